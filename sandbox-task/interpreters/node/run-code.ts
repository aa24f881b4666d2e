/**
 * Runs one piece of code to its end: its own statements, and then the work that they left pending.
 *
 * As with a script, the end is when nothing is pending; pending work of earlier calls (a timer, a server) and a listening
 * server of its own are not awaited. SIGINT and `process.exit` end the call and not the process: in the code's own statements
 * they stop it where it is, in a callback by an exception. A call that is stopped loses its timers, and an interrupted one has
 * ended only when nothing of it is pending.
 */
import { clearInterval, setImmediate, setInterval } from 'node:timers';
import { types } from 'node:util';
import { runInThisContext } from 'node:vm';
import { beginTimers, clearTimers, countPending, isMorePending, type Pending } from './call-timers.ts';
import { declareAgain, redeclaredName } from './declare-again.ts';
import { createEvaluator, describeError, type Evaluated, type Failure, type Source } from './evaluate.ts';
import { readingsOf } from './read-code.ts';
import { keepLastValue } from './scope.ts';

export type Ended = {
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
/** Its state is lost anyway, and its end says so: the next call gets another interpreter. */
const { evaluate, stopHere } = createEvaluator(() => exitProcess(interruptedExitCode));
/** As a shell answers for a program that SIGINT ended (bash(1), EXIT STATUS). */
const interruptedExitCode = 130;

/** `showValue` gets the value of the last expression, if it has one. */
export const runCode = async (
  code: string,
  name: string,
  showValue: (value: unknown) => void,
): Promise<Ended> => {
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
  const show = (value: unknown): void => {
    keepLastValue(value);
    const outcome = enter(call, () => showValue(value));
    if (outcome.status === 'interrupted') call.interrupt();
    else if (outcome.status === 'failed') call.end(failed(outcome.failure));
  };
  void evaluateFirst(call, code, name).then(async (result) => {
    if (result.status === 'interrupted') return call.interrupt();
    if (result.status !== 'finished') return call.end(failed(result.failure));
    // The outcome of a promise is known only then.
    const isPromise = types.isPromise(result.value);
    if (result.value !== undefined && !isPromise) show(result.value);
    await untilIdle(before, call);
    if (isPromise) show(result.value);
    resolve({ exitCode: exitCodeOf(process.exitCode), errorText: '', errorLine: null });
  });
  const ended = await promise;
  running = undefined;
  process.exitCode = undefined;
  return ended;
};

const declarationTriesMax = 50;

/** The first reading that can be run. The last one's error is reported. */
const evaluateFirst = async (call: RunningCall, code: string, name: string): Promise<Evaluated> => {
  let last: Evaluated = { status: 'finished', value: undefined };
  for (const { script, toSource } of readingsOf(code)) {
    const source = { name, code, toSource };
    last = await evaluateAgain(call, { script, source, triesLeft: declarationTriesMax });
    if (last.status !== 'unparsed') break;
  }
  return last;
};

type Attempt = {
  readonly script: string;
  readonly source: Source;
  /** The name that this script declares in another way than the one before. */
  readonly changed?: string;
  readonly triesLeft: number;
};

/** A name that was declared in another way is declared again as what it was, one name after another. */
const evaluateAgain = async (call: RunningCall, attempt: Attempt): Promise<Evaluated> => {
  const { script, source, changed, triesLeft } = attempt;
  const result = await evaluateOnce(call, script, source);
  const name = clashOf(result);
  if (name === undefined || name === changed || triesLeft === 0) return result;
  for (const other of declareAgain(script, name)) {
    const next = { script: other, source, changed: name, triesLeft: triesLeft - 1 };
    const again = await evaluateAgain(call, next);
    const isDeclared = again.status !== 'unparsed' || ![undefined, name].includes(clashOf(again));
    if (isDeclared) return again;
  }
  return result;
};

const clashOf = (result: Evaluated): string | undefined =>
  result.status === 'unparsed' ? redeclaredName(result.failure.error) : undefined;

const evaluateOnce = (call: RunningCall, script: string, source: Source): Promise<Evaluated> =>
  new Promise((resolve) => {
    const outcome = enter(call, () => void evaluate(script, source).then(resolve));
    if (outcome.status === 'interrupted') resolve({ status: 'interrupted' });
  });

const enterName = '__sallyportEnter';

/** SIGINT reaches into an endless loop of what is done here, and so far up the stack as this call. */
const enter = (call: RunningCall, act: () => void): Entered => {
  let outcome: Entered = { status: 'finished' };
  const guarded = (): void => {
    call.isInside = true;
    try {
      act();
    } catch (error) {
      outcome = { status: 'failed', failure: { kind: 'thrown', error } };
    }
  };
  try {
    Object.defineProperty(globalThis, enterName, { value: guarded, configurable: true });
    runInThisContext(`this.${enterName}()`, { breakOnSigint: true });
    return outcome;
  } catch {
    return { status: 'interrupted' };
  } finally {
    call.isInside = false;
    Reflect.deleteProperty(globalThis, enterName);
  }
};

type Entered =
  | { readonly status: 'finished' | 'interrupted' }
  | { readonly status: 'failed'; readonly failure: Failure };

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
