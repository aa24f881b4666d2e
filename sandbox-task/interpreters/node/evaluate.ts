/**
 * Evaluation of code as in the console of DevTools: `let`, `const` and classes outlive the call and may be declared
 * again, and `await` may stand outside a function. `replMode` of the inspector protocol
 * (https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-evaluate). Uncaught errors are described as
 * Node prints them, without the frames of the interpreter, and with the lines of the code as it was written.
 *
 * The inspector is a session inside the process: it opens no port.
 */
import { type Runtime, Session } from 'node:inspector';
import { inspect } from 'node:util';
import { promiseHooks } from 'node:v8';
import type { Place } from './read-code.ts';

export type Evaluated =
  | { readonly status: 'finished'; readonly value: unknown }
  /** Nothing of it has run. */
  | { readonly status: 'unparsed'; readonly failure: Failure }
  | { readonly status: 'interrupted' }
  | { readonly status: 'failed'; readonly failure: Failure };

type Evaluator = {
  /** Its synchronous part runs at once. */
  readonly evaluate: (script: string, source: Source) => Promise<Evaluated>;
  /** Ends the synchronous part, past every `catch` and `finally`. */
  readonly stopHere: () => void;
};

/** The code as it was written, of which the script is a reading. */
export type Source = {
  readonly name: string;
  readonly code: string;
  readonly toSource: (place: Place) => Place;
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

/** The inspector has lost the scope, so no code can be evaluated. An interrupt in the middle of a system call can cause that. */
const lostScope = 'Cannot find context with specified id';

export const createEvaluator = (onBroken: () => void): Evaluator => {
  const session = new Session();
  session.connect();
  return {
    evaluate: (script, source) =>
      new Promise((resolve) => {
        const expression = `${script}\n//# sourceURL=${source.name}`;
        const options = { expression, objectGroup, replMode: true, awaitPromise: true, silent: true };
        keepMapping(source);
        const stopKeeping = keepFirstPromise();
        // Code that runs is answered later; that which cannot be parsed or declared, at once.
        let hasRun = false;
        session.post('Runtime.evaluate', options, (error, result?: Runtime.EvaluateReturnType) => {
          if (error?.message.includes(lostScope)) onBroken();
          if (error !== null || result === undefined) resolve({ status: 'interrupted' });
          else resolve(toEvaluated(session, result, { source, hasRun }));
          session.post('Runtime.releaseObjectGroup', { objectGroup });
        });
        hasRun = true;
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
  { result, exceptionDetails: details }: Runtime.EvaluateReturnType,
  { source, hasRun }: { readonly source: Source; readonly hasRun: boolean },
): Evaluated => {
  if (details === undefined) return { status: 'finished', value: takeValue(session, result) };
  const { exception, lineNumber, columnNumber, text } = details;
  const error = exception === undefined ? new Error(text) : takeValue(session, exception);
  if (hasRun || !(error instanceof SyntaxError))
    return { status: 'failed', failure: { kind: 'thrown', error } };
  const { line, column } = source.toSource({ line: lineNumber + 1, column: columnNumber });
  const lineText = source.code.split('\n')[line - 1] ?? '';
  return {
    status: 'unparsed',
    failure: { kind: 'syntax', error, at: { name: source.name, line, column, lineText } },
  };
};

/** The value itself: the protocol gives only its description. */
const takeValue = (session: Session, described: Runtime.RemoteObject): unknown => {
  const { objectId, value, unserializableValue } = described;
  if (objectId === undefined && unserializableValue === undefined) return value;
  if (unserializableValue !== undefined) return unserialized(unserializableValue);
  let taken: unknown;
  const take = (given: unknown): void => {
    taken = given;
  };
  Object.defineProperty(globalThis, takeName, { value: take, configurable: true });
  // As an argument, since `this` of a primitive would become an object.
  // The code may have a `globalThis` of its own.
  const functionDeclaration = `function (value) { (function () { return this; })().${takeName}(value); }`;
  session.post('Runtime.callFunctionOn', {
    ...{ objectId, functionDeclaration, silent: true },
    arguments: [{ objectId }],
  });
  Reflect.deleteProperty(globalThis, takeName);
  return taken;
};

/** https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-UnserializableValue */
const unserialized = (text: string): unknown =>
  text.endsWith('n') ? BigInt(text.slice(0, -1)) : Number(text);

export type Failure =
  | { readonly kind: 'thrown'; readonly error: unknown }
  | { readonly kind: 'syntax'; readonly error: Error; readonly at: SyntaxPlace };
type SyntaxPlace = Place & { readonly name: string; readonly lineText: string };

const lineCharactersMax = 1000;

export const describeError = (
  failure: Failure,
): { readonly errorText: string; readonly errorLine: string } => {
  const { error } = failure;
  if (failure.kind === 'syntax') {
    const { name, line, column, lineText } = failure.at;
    const arrow = `${' '.repeat(Math.min(column, lineCharactersMax))}^`;
    const at = `${name}:${line}\n${lineText.slice(0, lineCharactersMax)}\n${arrow}\n\n`;
    return { errorText: `${at}${failure.error.name}: ${failure.error.message}\n`, errorLine: lineOf(error) };
  }
  const text = error instanceof Error ? inspect(error) : `Uncaught ${inspect(error)}`;
  return { errorText: `${text}\n`, errorLine: lineOf(error) };
};

const lineOf = (error: unknown): string => {
  const text = error instanceof Error ? String(error) : `Uncaught ${inspect(error)}`;
  return (text.split('\n')[0] ?? '').slice(0, lineCharactersMax);
};

/** The code of this many calls has its own lines in stacks, if it was transformed. */
const mappedMax = 100;
const mapped = new Map<string, Source['toSource']>();

const keepMapping = ({ name, toSource }: Source): void => {
  mapped.delete(name);
  mapped.set(name, toSource);
  const [oldest] = mapped.keys();
  if (mapped.size > mappedMax && oldest !== undefined) mapped.delete(oldest);
};

/** Code is run through the inspector: what called that is of no interest to a stack's reader. */
export const hideOwnFrames = (): void => {
  Error.prepareStackTrace = (error, frames) => {
    const own = frames.findIndex((frame) => frame.getFileName() === 'node:inspector');
    const kept = own < 0 ? frames : frames.slice(0, own);
    return [String(error), ...kept.map((frame) => `    at ${describeFrame(frame)}`)].join('\n');
  };
};

const describeFrame = (frame: NodeJS.CallSite): string => {
  const file = frame.getScriptNameOrSourceURL();
  const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()];
  const toSource = mapped.get(file ?? '');
  if (toSource === undefined || line === null || column === null) return String(frame);
  const place = toSource({ line, column: column - 1 });
  return String(frame).replace(`${file}:${line}:${column}`, `${file}:${place.line}:${place.column + 1}`);
};
