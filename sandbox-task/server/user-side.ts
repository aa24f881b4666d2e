/**
 * The user's side of the sandbox as the server sees it: calls and requests, through a runner that may end.
 *
 * An ended runner is replaced; its waiting requests fail and are not repeated. The server keeps its own
 * deadline for each call, because user code can stop the runner that should keep it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type {
  KillCause,
  ProgramDefaults,
  ProgramSpec,
  RunnerMessage,
  RunnerRequest,
  StreamName,
  Surroundings,
} from '../wire/messages.ts';
import type { ProcessSpec, ProcessStream } from '../wire/process-messages.ts';
import type { CodeContext, Language, StdioWork } from '../wire/program-messages.ts';
import {
  type Answer,
  followCall,
  type RunnerProcess,
  type RunnerStart,
  type RunningCall,
  startRunner,
} from './runner-process.ts';
import { createStateMemory } from './state-memory.ts';

export type Exit = Extract<RunnerMessage, { type: 'exit' }>;
export type OutputPiece = { readonly stream: StreamName; readonly offset: number; readonly text: string };
export type Execution = { readonly exit: Exit; readonly payload: Buffer };
/** A program of its own, or code for the interpreter that keeps the state of its context. */
export type Work =
  | { readonly argv: readonly string[] }
  | (CodeContext & {
      readonly code: string;
      /** The answer has MIME bundles. */
      readonly hasBundles: boolean;
    });
type ExecuteOptions = Surroundings & {
  readonly work: Work;
  readonly timeoutMs: number;
  readonly onOutput: (piece: OutputPiece) => void;
};
type RunningExecution = {
  readonly ended: Promise<Execution>;
  readonly kill: (cause: KillCause) => void;
};
type StdioOptions = {
  readonly work: StdioWork;
  readonly timeoutMs: number;
  readonly onProgress: (text: string) => void;
};
export type RunningStdio = RunningCall;
type ProcessOptions = {
  readonly spec: ProcessSpec;
  readonly input: Buffer;
  readonly onOutput: (stream: ProcessStream, chunk: Buffer) => void;
};
type ProcessExit = Extract<RunnerMessage, { type: 'process-exit' }>;
/** A started process; its runner alone knows it. */
export type ProcessControl = {
  readonly pid: number;
  readonly ended: Promise<ProcessExit>;
  readonly kill: (cause: KillCause) => void;
  /** True when its runner has ended, and all of its processes with it. */
  readonly isLost: () => boolean;
  /** A refusal of the runner is thrown. */
  readonly ask: (request: ProcessQuestion, payload?: Buffer) => Promise<Answer>;
};
type ProcessQuestion = WithoutTarget<Extract<RunnerRequest, { process: number }>>;
type WithoutTarget<T> = T extends unknown ? Omit<T, 'id' | 'process'> : never;
/** One question, one answer; a refusal of the runner is thrown. */
export type Ask = (request: PlainRequest, payload?: Buffer) => Promise<Answer>;

export type UserSide = {
  /** The first runner answers; rejects when it does not start. */
  readonly ready: Promise<void>;
  readonly execute: (options: ExecuteOptions) => Promise<RunningExecution>;
  /** Resolves when it runs, or has failed to. */
  readonly startProcess: (options: ProcessOptions) => Promise<ProcessControl>;
  /** Asks an MCP server of the user, which is started when it does not live. */
  readonly askStdio: (options: StdioOptions) => Promise<RunningStdio>;
  /** True when there was such a context: of one language, or of any. */
  readonly endContext: (context: string, language: Language | null) => Promise<boolean>;
  readonly ask: Ask;
  /** Gives all programs that start from now on their variables and folder, in this runner and in its successors. */
  readonly configure: (defaults: ProgramDefaults) => Promise<void>;
  /** Asks only the runner that lives now: what it remembers of a transfer its successor does not. */
  readonly pin: () => Promise<Ask>;
  /** Resolves when no user process is left. */
  readonly stop: () => Promise<void>;
};

/** The server's deadline comes this long after the runner's, in milliseconds: a kill may take 5 s, the last output 2 s. */
const graceMs = 12_000;
/** An interpreter and an MCP server are asked to stop before they are killed (runner/code-call.ts, stdio-call.ts). */
const codeGraceMs = 15_000;
const fileOperationMsMax = 60_000;
const restartDelayMs = 100;
const stopMsMax = 2000;

export const openUserSide = (runnerStart: RunnerStart): UserSide => {
  const start = (): RunnerProcess => startRunner(runnerStart);
  let runner = start();
  let replaced: Promise<void> = Promise.resolve();
  let isStopped = false;
  let lastId = 0;
  let configured:
    | { readonly defaults: Buffer; readonly by: Map<RunnerProcess, Promise<unknown>> }
    | undefined;
  const replace = async (): Promise<void> => {
    await delay(restartDelayMs);
    if (!isStopped) watch(start());
  };
  const watch = (next: RunnerProcess): void => {
    runner = next;
    void next.ended.then(() => {
      if (!isStopped) replaced = replace();
    });
  };
  watch(runner);
  const configureOnce = async (one: RunnerProcess): Promise<void> => {
    if (configured === undefined) return;
    const { defaults, by } = configured;
    const asked = by.get(one) ?? askOn(one, { type: 'set-defaults', id: nextId() }, defaults);
    by.set(one, asked);
    await asked;
  };
  /** The one that lives: a dead runner never answers. */
  const living = async (): Promise<RunnerProcess> => {
    await replaced;
    await runner.ready;
    await configureOnce(runner);
    return runner;
  };

  const memory = createStateMemory();
  const nextId = (): number => {
    lastId += 1;
    return lastId;
  };
  const askOf =
    (pinned: RunnerProcess): Ask =>
    (request, payload) =>
      askOn(pinned, { ...request, id: nextId() }, payload);
  return {
    ready: runner.ready,
    async execute(options) {
      const now = await living();
      const isLost = 'language' in options.work && memory.record(options.work, now);
      return withLoss(executeOn(now, nextId(), options), isLost);
    },
    async startProcess(options) {
      const now = await living();
      const id = nextId();
      const ask = askOf(now);
      const started = await startProcessOn(now, id, options);
      return {
        ...started,
        isLost: now.hasEnded,
        ask: (request, payload) => ask({ ...request, process: id }, payload),
      };
    },
    async askStdio(options) {
      return askStdioOn(await living(), nextId(), options);
    },
    async endContext(context, language) {
      const answer = await askOf(await living())({ type: 'end-context', context, language });
      const { count } = expectAnswer(answer, 'context-ended');
      return memory.forget(context, language) || count > 0;
    },
    async ask(request, payload) {
      return askOf(await living())(request, payload);
    },
    async configure(defaults) {
      configured = { defaults: Buffer.from(JSON.stringify(defaults)), by: new Map() };
      await living();
    },
    async pin() {
      return askOf(await living());
    },
    async stop() {
      isStopped = true;
      runner.kill('the server stops');
      await Promise.race([runner.ended, delay(stopMsMax)]);
    },
  };
};

const withLoss = (execution: RunningExecution, isLost: boolean): RunningExecution => ({
  ...execution,
  ended: execution.ended.then(({ exit, payload }) => ({
    exit: { ...exit, stateLost: exit.stateLost || isLost },
    payload,
  })),
});

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;
type PlainRequest = WithoutId<
  Exclude<RunnerRequest, { type: 'start' | 'run-code' | 'ask-stdio' | 'start-process' | 'kill' }>
>;
const askOn = (runner: RunnerProcess, request: RunnerRequest, payload: Buffer | undefined): Promise<Answer> =>
  followCall(runner, request.id, {
    ...{ request, payload, timeoutMs: fileOperationMsMax, killMsMax: 0 },
    onPiece: () => false,
  }).ended;

const executeOn = (runner: RunnerProcess, id: number, options: ExecuteOptions): RunningExecution => {
  const { work, timeoutMs, onOutput } = options;
  const { ended, kill } = followCall(runner, id, {
    ...startOf(id, options),
    timeoutMs,
    killMsMax: 'language' in work ? codeGraceMs : graceMs,
    onPiece: ({ message, payload }) => {
      if (message.type !== 'output') return false;
      onOutput({ stream: message.stream, offset: message.offset, text: payload.toString() });
      return true;
    },
  });
  return {
    ended: ended.then((answer) => ({ exit: expectAnswer(answer, 'exit'), payload: answer.payload })),
    kill,
  };
};

const startOf = (
  id: number,
  { work, timeoutMs, cwd, env, storedOver }: ExecuteOptions,
): { readonly request: RunnerRequest; readonly payload: Buffer } => {
  const around = { cwd, env, storedOver };
  if (!('language' in work)) {
    const spec = { argv: work.argv, ...around } satisfies ProgramSpec;
    return { request: { type: 'start', id, timeoutMs }, payload: Buffer.from(JSON.stringify(spec)) };
  }
  const { language, context, code } = work;
  return {
    request: { type: 'run-code', id, language, context, timeoutMs, ...around },
    payload: Buffer.from(code),
  };
};

const startProcessOn = async (
  runner: RunnerProcess,
  id: number,
  { spec, input, onOutput }: ProcessOptions,
): Promise<Omit<ProcessControl, 'ask' | 'isLost'>> => {
  const written = Buffer.from(JSON.stringify(spec));
  const started = Promise.withResolvers<number>();
  const { ended, kill } = followCall(runner, id, {
    request: { type: 'start-process', id, specBytes: written.length },
    payload: Buffer.concat([written, input]),
    timeoutMs: spec.timeoutMs,
    killMsMax: graceMs,
    isLasting: true,
    onPiece: ({ message, payload }) => {
      if (message.type === 'process-started') started.resolve(message.pid);
      else if (message.type === 'process-output') onOutput(message.stream, payload);
      else return false;
      return true;
    },
  });
  // It counts after the start as well, when nothing waits for it yet.
  ended.catch(started.reject);
  const deadline = setTimeout(() => runner.kill('a process did not start in time'), fileOperationMsMax);
  const pid = await started.promise.finally(() => clearTimeout(deadline));
  return { pid, kill, ended: ended.then((answer) => expectAnswer(answer, 'process-exit')) };
};

const askStdioOn = (
  runner: RunnerProcess,
  id: number,
  { work, timeoutMs, onProgress }: StdioOptions,
): RunningStdio =>
  followCall(runner, id, {
    request: { type: 'ask-stdio', id, timeoutMs },
    payload: Buffer.from(JSON.stringify(work)),
    timeoutMs,
    killMsMax: codeGraceMs,
    onPiece: ({ message, payload }) => {
      if (message.type !== 'stdio-progress') return false;
      onProgress(payload.toString());
      return true;
    },
  });

/** The answer in the expected form; a runner that was taken over may send another. */
export const expectAnswer = <Type extends Answer['message']['type']>(
  { message }: Answer,
  type: Type,
): Extract<Answer['message'], { type: Type }> => {
  if (message.type !== type) throw new Error(`the runner answered ${message.type}`);
  return message as Extract<Answer['message'], { type: Type }>;
};
