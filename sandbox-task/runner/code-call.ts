/**
 * The code call: one piece of code in the interpreter of its context, which keeps its state for the next.
 *
 * On a timeout or a cancel it is interrupted, and its other processes are killed. An interpreter that does not end the
 * call within two seconds is killed too, and so is one over a memory or process limit, at once.
 * Guarantee W12 of docs/spec/sandbox.md.
 */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { KillCause, Surroundings } from '../wire/messages.ts';
import type { CodeContext, InterpreterMessage, Language } from '../wire/program-messages.ts';
import type { Call } from './call.ts';
import { openReport, type Send } from './call-output.ts';
import { killMarked, markOf } from './call-processes.ts';
import { collectResults, type Interpreter, type InterpreterEnd } from './interpreter.ts';
import { createInterpreterPool, type InterpreterPool } from './interpreter-pool.ts';
import { outputFilesOf } from './output-files.ts';
import type { SandboxPaths } from './user-process.ts';

type CodeStart = CodeContext &
  Surroundings & {
    readonly id: number;
    readonly timeoutMs: number;
    readonly code: Buffer;
    /** Called as the code ends: kills the call if it is what fills the sandbox. */
    readonly checkLimits: () => void;
  };
type CodeRunner = {
  readonly run: (start: CodeStart, send: Send) => Call;
  /** Gives the number of interpreters that had definitions, or had lost them. */
  readonly endContext: (context: string, language: Language | null) => Promise<number>;
};

/** An interrupted interpreter has this long to end the call, and is interrupted this often, in milliseconds. */
const interruptMsMax = 2000;
const interruptEveryMs = 500;
/** The marks lie in the pipes when the interpreter says that it is done. */
const lastOutputMsMax = 1000;

export const createCodeRunner = (paths: SandboxPaths): CodeRunner => {
  const pool = createInterpreterPool(paths);
  return {
    run: (start, send) => startCodeCall({ ...start, workspace: paths.workspace }, pool, send),
    endContext: pool.endContext,
  };
};

type PlacedStart = CodeStart & { readonly workspace: string };

const startCodeCall = (start: PlacedStart, pool: InterpreterPool, send: Send): Call => {
  const { id, timeoutMs } = start;
  const mark = markOf(id);
  const isOver = Promise.withResolvers<void>();
  let interpreter: Interpreter | undefined;
  let killedFor: KillCause | null = null;
  let allEnded: Promise<boolean> = Promise.resolve(true);
  const kill = (cause: KillCause): void => {
    if (killedFor !== null) return;
    killedFor = cause;
    if (interpreter !== undefined) allEnded = end(interpreter, { cause, mark, isOver: isOver.promise });
  };
  const run = async (): Promise<void> => {
    const startedAt = performance.now();
    const acquired = await pool.acquire(start, mark);
    interpreter = acquired.interpreter;
    const cpuMsBefore = interpreter.cpuMs();
    if (killedFor !== null) allEnded = end(interpreter, { cause: killedFor, mark, isOver: isOver.promise });
    const limit = setTimeout(() => kill('timeout'), timeoutMs);
    const report = openReport(id, send, outputFilesOf(start));
    const ran = await runIn(interpreter, start, report.push);
    clearTimeout(limit);
    isOver.resolve();
    start.checkLimits();
    const isEnded = await allEnded;
    const outcome = isImmediate(killedFor) ? await killedOutcome(ran, interpreter) : ran;
    if (outcome.hasDied) pool.forgetLoss(start);
    pool.release(start);
    const { hasDied, ...rest } = outcome;
    report.close({
      ...rest,
      stateLost: acquired.isSuccessor || (hasDied && interpreter.hasStarted()),
      killedFor,
      isEnded,
      durationMs: Math.round(performance.now() - startedAt),
      cpuMs: Math.max(0, interpreter.cpuMs() - cpuMsBefore),
    });
  };
  return { mark, kill, ended: run().finally(() => pool.release(start)) };
};

type Kill = { readonly cause: KillCause; readonly mark: number; readonly isOver: Promise<void> };

const end = async (interpreter: Interpreter, { cause, mark, isOver }: Kill): Promise<boolean> => {
  if (!isImmediate(cause) && (await interrupt(interpreter, { mark, isOver })))
    return killMarked(mark, { spared: interpreter.pid });
  interpreter.signal('SIGKILL');
  return killMarked(mark);
};

/** Over a limit the interpreter is killed at once. */
const isImmediate = (cause: KillCause | null): boolean => cause === 'memory' || cause === 'processes';

/** The code may have come to its end just before the kill. */
const killedOutcome = async (ran: Outcome, interpreter: Interpreter): Promise<Outcome> => ({
  ...ran,
  ...(await interpreter.died),
  errorLine: null,
  hasDied: true,
});

/** True when the call came to its end. Again and again, because `os.system` and a careless `except` swallow one. */
const interrupt = async (
  interpreter: Interpreter,
  { mark, isOver }: Pick<Kill, 'mark' | 'isOver'>,
): Promise<boolean> => {
  let hasEnded = false;
  const ended = isOver.then(() => {
    hasEnded = true;
  });
  for (let waitedMs = 0; waitedMs < interruptMsMax && !hasEnded; waitedMs += interruptEveryMs) {
    interpreter.signal('SIGINT');
    await Promise.all([
      killMarked(mark, { spared: interpreter.pid }),
      Promise.race([ended, delay(interruptEveryMs, undefined, { ref: false })]),
    ]);
  }
  return hasEnded;
};

type Outcome = InterpreterEnd & {
  readonly errorLine: string | null;
  readonly hasDied: boolean;
} & ReturnType<ReturnType<typeof collectResults>['end']>;

const runIn = async (
  interpreter: Interpreter,
  { id, code, cwd, env, workspace }: PlacedStart,
  push: Readonly<Record<'stdout' | 'stderr', (chunk: Buffer) => void>>,
): Promise<Outcome> => {
  const nonce = randomBytes(16).toString('hex');
  const marks = { begin: `\u0001${nonce}(`, end: `\u0001${nonce})` };
  const results = collectResults();
  const done = Promise.withResolvers<Extract<InterpreterMessage, { type: 'done' }>>();
  const streams = Promise.all([
    interpreter.stdout.open(marks, push.stdout),
    interpreter.stderr.open(marks, push.stderr),
  ]);
  const place = {
    ...(cwd === undefined ? {} : { cwd: resolve(workspace, cwd) }),
    ...(env === undefined ? {} : { env }),
  };
  interpreter.send({ type: 'run', number: id, ...marks, ...place }, code, (message, content) => {
    if (message.type === 'result') results.add(message, content);
    else if (message.type === 'done') done.resolve(message);
  });
  const ended = await Promise.race([done.promise, interpreter.died]);
  if ('type' in ended) {
    await Promise.race([streams, interpreter.died, delay(lastOutputMsMax, undefined, { ref: false })]);
  }
  interpreter.stdout.abandon();
  interpreter.stderr.abandon();
  const shown = results.end();
  if (!('type' in ended)) return { ...ended, errorLine: null, hasDied: true, ...shown };
  const { exitCode, errorLine } = ended;
  return { exitCode, signal: null, startFailure: null, errorLine, hasDied: false, ...shown };
};
