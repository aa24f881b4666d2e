/**
 * Runs one piece of code to its end: its own statements, and then the work that they left pending.
 *
 * As with a script, the end is when nothing is pending any more; pending work of earlier calls (a timer, a server)
 * and a listening server of its own are not awaited. SIGINT and `process.exit` end the call and not the
 * process: in the code's own statements they stop it where it is, in a callback by an exception. A call that is
 * stopped loses its timers, and an interrupted one has ended only when nothing of it is pending.
 */
import { clearInterval, setImmediate, setInterval } from 'node:timers';
import { runInThisContext } from 'node:vm';
import { beginTimers, clearTimers, countPending, isMorePending, type Pending } from './call-timers.ts';
import { createEvaluator, describeError, type Evaluated, type Failure } from './evaluate.ts';
import { asAssignment, redeclaredName, toScript } from './rewrite-code.ts';

type Ended = {
  readonly exitCode: number;
  readonly errorText: string;
  readonly errorLine: string | null;
};

/** The interval of checks for pending work, in milliseconds. */
const pollMs = 10;

class ExitRequest extends Error {
  override readonly name = 'ExitRequest';
}

type RunningCall = {
  readonly end: (ended: Ended) => void;
  readonly interrupt: () => void;
  /** Its own statements are on the stack. */
  isInside: boolean;
  /** When nothing at all is pending in the process. */
  onEmpty: () => void;
};

let running: RunningCall | undefined;
const { evaluate, stopHere } = createEvaluator();

export const runCode = async (code: string, name: string): Promise<Ended> => {
  const before = countPending();
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const call: RunningCall = {
    end: (ended) => {
      clearTimers();
      resolve(ended);
    },
    interrupt: () => {
      clearTimers();
      void untilIdle(before, call).then(() => resolve(interrupted));
    },
    isInside: false,
    onEmpty: () => call.end(unsettled),
  };
  running = call;
  process.exitCode = undefined;
  beginTimers();
  void startAgain(call, toScript(code), name).then(async (result) => {
    if (result.status === 'interrupted') call.interrupt();
    else if (result.status === 'failed') call.end(failed(result.failure));
    else {
      await untilIdle(before, call);
      resolve({ exitCode: exitCodeOf(process.exitCode), errorText: '', errorLine: null });
    }
  });
  const ended = await promise;
  running = undefined;
  process.exitCode = undefined;
  return ended;
};

const declarationTriesMax = 50;

const startAgain = async (call: RunningCall, script: string, name: string): Promise<Evaluated> => {
  let tried = script;
  for (let left = declarationTriesMax; ; left -= 1) {
    const result = await start(call, tried, name);
    const clash = result.status === 'failed' ? redeclaredName(result.failure.error) : undefined;
    const next = clash === undefined || left === 0 ? undefined : asAssignment(tried, clash);
    if (next === undefined) return result;
    tried = next;
  }
};

const start = (call: RunningCall, script: string, name: string): Promise<Evaluated> =>
  new Promise((resolve) => {
    const enter = (): void => {
      call.isInside = true;
      void evaluate(script, name).then(resolve);
    };
    try {
      Object.defineProperty(globalThis, enterName, { value: enter, configurable: true });
      // The watch on SIGINT reaches into an endless loop, and so far up the stack as this call.
      runInThisContext(`globalThis[${JSON.stringify(enterName)}]()`, { breakOnSigint: true });
    } catch {
      resolve({ status: 'interrupted' });
    } finally {
      call.isInside = false;
      Reflect.deleteProperty(globalThis, enterName);
    }
  });

const enterName = '__sallyportEnter';

/** Resolves when nothing of the call is pending, or another one runs. */
const untilIdle = (before: Pending, call: RunningCall): Promise<void> =>
  new Promise((resolve) => {
    const finish = (): void => {
      clearInterval(timer);
      resolve();
    };
    const check = (): void => {
      if (running !== call || !isMorePending(before)) finish();
    };
    const timer = setInterval(check, pollMs).unref();
    // An empty event loop would end the process without looking again.
    call.onEmpty = finish;
    setImmediate(check);
  });

const interrupted: Ended = { exitCode: 1, errorText: 'Interrupted\n', errorLine: null };

/** The end of a module in Node whose top-level `await` nothing can settle any more. */
const unsettled: Ended = {
  exitCode: 13,
  errorText: 'Warning: Detected unsettled top-level await\n',
  errorLine: null,
};

const failed = (failure: Failure): Ended => ({ exitCode: 1, ...describeError(failure) });

const exitCodeOf = (code: unknown): number => {
  const number = Number(code ?? 0);
  return Number.isInteger(number) ? number & 0xff : 1;
};

const exitCall = (code?: number | string | null): never => {
  const call = running;
  call?.end({ exitCode: exitCodeOf(code ?? process.exitCode), errorText: '', errorLine: null });
  if (call?.isInside) stopHere();
  throw new ExitRequest('process.exit');
};

const onUncaught = (error: unknown): void => {
  if (error instanceof ExitRequest) return;
  running?.end(failed({ kind: 'thrown', error }));
};

/** Only when user code listens for none itself. */
const whenAlone =
  (event: string, act: (error: unknown) => void) =>
  (error: unknown): void => {
    if (error instanceof ExitRequest || process.listenerCount(event) === 1) act(error);
  };

export const exitProcess = process.exit.bind(process);

process.on('uncaughtException', whenAlone('uncaughtException', onUncaught));
process.on('unhandledRejection', whenAlone('unhandledRejection', onUncaught));
process.on('SIGINT', () => running?.interrupt());
process.on('beforeExit', () => running?.onEmpty());
process.exit = exitCall;
