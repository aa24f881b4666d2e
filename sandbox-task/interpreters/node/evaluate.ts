/**
 * Evaluation of code as in the console of DevTools: `let`, `const` and classes outlive the call and may be declared
 * again, and `await` may stand outside a function. `replMode` of the inspector protocol
 * (https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-evaluate). Uncaught errors are described as
 * Node prints them, without the frames of the interpreter.
 */
import { type Runtime, Session } from 'node:inspector';
import { inspect } from 'node:util';
import { promiseHooks } from 'node:v8';

export type Evaluated =
  | { readonly status: 'finished' }
  | { readonly status: 'interrupted' }
  | { readonly status: 'failed'; readonly failure: Failure };

type Evaluator = {
  /** Its synchronous part runs at once. */
  readonly evaluate: (code: string, name: string) => Promise<Evaluated>;
  /** Ends the synchronous part, past every `catch` and `finally`. */
  readonly stopHere: () => void;
};

const objectGroup = 'call';
const takeName = '__sallyportTake';

/**
 * The promises of code that waits: one that is collected, because nothing can settle it any more, would be
 * reported by the inspector in the midst of the collection, which ends the process.
 */
const waiting = new Set<Promise<unknown>>();

const keepFirstPromise = (): (() => void) => {
  const stop = promiseHooks.onInit((promise) => {
    stop();
    waiting.add(promise);
    const forget = (): void => void waiting.delete(promise);
    promise.then(forget, forget);
  }) as () => void;
  return stop;
};

export const createEvaluator = (): Evaluator => {
  const session = new Session();
  session.connect();
  return {
    evaluate: (code, name) =>
      new Promise((resolve) => {
        const expression = `${code}\n//# sourceURL=${name}`;
        const options = { expression, objectGroup, replMode: true, awaitPromise: true, silent: true };
        const stopKeeping = keepFirstPromise();
        session.post('Runtime.evaluate', options, (error, result?: Runtime.EvaluateReturnType) => {
          if (error !== null || result === undefined) resolve({ status: 'interrupted' });
          else resolve(toEvaluated(session, result.exceptionDetails, { code, name }));
          session.post('Runtime.releaseObjectGroup', { objectGroup });
        });
        stopKeeping();
      }),
    stopHere: () => {
      session.post('Runtime.terminateExecution');
      // The termination strikes at the next look for interrupts, which a loop has.
      for (;;);
    },
  };
};

const toEvaluated = (
  session: Session,
  details: Runtime.ExceptionDetails | undefined,
  { code, name }: { readonly code: string; readonly name: string },
): Evaluated => {
  if (details === undefined) return { status: 'finished' };
  const { exception, lineNumber, columnNumber } = details;
  const error = exception === undefined ? new Error(details.text) : thrownValue(session, exception);
  const isUnparsed = details.stackTrace === undefined && details.scriptId === undefined;
  const place = {
    name,
    line: lineNumber + 1,
    column: columnNumber,
    source: code.split('\n')[lineNumber] ?? '',
  };
  const isSyntax = error instanceof SyntaxError && (isUnparsed || !isThrownInCode(error, name));
  return {
    status: 'failed',
    failure: isSyntax ? { kind: 'syntax', error, place } : { kind: 'thrown', error },
  };
};

/** A parse error has no frame in the code it is about. */
const isThrownInCode = (error: Error, name: string): boolean => String(error.stack).includes(`${name}:`);

/** The value itself: the protocol gives only its description. */
const thrownValue = (session: Session, { objectId, value, description }: Runtime.RemoteObject): unknown => {
  if (objectId === undefined) return value ?? description;
  let taken: unknown;
  const take = (given: unknown): void => {
    taken = given;
  };
  Object.defineProperty(globalThis, takeName, { value: take, configurable: true });
  const functionDeclaration = `function () { globalThis[${JSON.stringify(takeName)}](this); }`;
  session.post('Runtime.callFunctionOn', { objectId, functionDeclaration, silent: true });
  Reflect.deleteProperty(globalThis, takeName);
  return taken;
};

export type Failure =
  | { readonly kind: 'thrown'; readonly error: unknown }
  | { readonly kind: 'syntax'; readonly error: Error; readonly place: Place };
type Place = {
  readonly name: string;
  readonly line: number;
  readonly column: number;
  readonly source: string;
};

const lineCharactersMax = 1000;

export const describeError = (
  failure: Failure,
): { readonly errorText: string; readonly errorLine: string } => {
  const { error } = failure;
  if (failure.kind === 'syntax') {
    const { name, line, column, source } = failure.place;
    const arrow = `${' '.repeat(Math.min(column, lineCharactersMax))}^`;
    const at = `${name}:${line}\n${source.slice(0, lineCharactersMax)}\n${arrow}\n\n`;
    return { errorText: `${at}${failure.error.name}: ${failure.error.message}\n`, errorLine: lineOf(error) };
  }
  const text = error instanceof Error ? inspect(error) : `Uncaught ${inspect(error)}`;
  return { errorText: `${text}\n`, errorLine: lineOf(error) };
};

const lineOf = (error: unknown): string => {
  const text = error instanceof Error ? String(error) : `Uncaught ${inspect(error)}`;
  return (text.split('\n')[0] ?? '').slice(0, lineCharactersMax);
};

/** Code is run through the inspector: what called that is of no interest to a stack's reader. */
export const hideOwnFrames = (): void => {
  Error.prepareStackTrace = (error, frames) => {
    const own = frames.findIndex((frame) => frame.getFileName() === 'node:inspector');
    const kept = own < 0 ? frames : frames.slice(0, own);
    return [String(error), ...kept.map((frame) => `    at ${frame}`)].join('\n');
  };
};
