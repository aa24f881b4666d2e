/**
 * The user's side of the sandbox as the server sees it: calls and requests, through a runner that may die.
 *
 * A dead runner is replaced; what waited for it fails and is not repeated. The server keeps its own
 * deadline for each call, because user code can stop the runner that should keep it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Language } from '../wire/interpreter-messages.ts';
import type { KillCause, RunnerMessage, RunnerRequest, StreamName } from '../wire/messages.ts';
import type { Log } from './log.ts';
import { Refusal } from './refusal.ts';
import { type Answer, type RunnerProcess, startRunner } from './runner-process.ts';

export type Exit = Extract<RunnerMessage, { type: 'exit' }>;
export type OutputPiece = { readonly stream: StreamName; readonly offset: number; readonly text: string };
export type Execution = { readonly exit: Exit; readonly payload: Buffer };
/** A program of its own, or code for the interpreter that keeps the state of its language. */
export type Work =
  | { readonly argv: readonly string[] }
  | { readonly language: Language; readonly code: string };
export type ExecuteOptions = {
  readonly work: Work;
  readonly timeoutMs: number;
  readonly onOutput: (piece: OutputPiece) => void;
};
export type RunningExecution = {
  readonly ended: Promise<Execution>;
  readonly kill: (cause: KillCause) => void;
};
/** One question, one answer; a refusal of the runner is thrown. */
export type Ask = (request: PlainRequest, payload?: Buffer) => Promise<Answer>;

export type UserSide = {
  readonly execute: (options: ExecuteOptions) => Promise<RunningExecution>;
  readonly ask: Ask;
  /** Asks only the runner that lives now: what it remembers of a transfer its successor does not. */
  readonly pin: () => Promise<Ask>;
  /** Resolves when no user process is left. */
  readonly stop: () => Promise<void>;
};

/** How much later than the runner the server loses patience, in milliseconds. */
const graceMs = 4000;
/** An interpreter is asked to stop before it is killed (runner/code-call.ts). */
const codeGraceMs = 7000;
const fileOperationMsMax = 60_000;
const restartDelayMs = 100;
const stopMsMax = 2000;

export const openUserSide = (runnerArgv: readonly string[], log: Log): UserSide => {
  let runner = startRunner(runnerArgv, log);
  let replaced: Promise<void> = Promise.resolve();
  let isStopped = false;
  let lastId = 0;
  const replace = async (): Promise<void> => {
    await delay(restartDelayMs);
    if (!isStopped) watch(startRunner(runnerArgv, log));
  };
  const watch = (next: RunnerProcess): void => {
    runner = next;
    void next.ended.then(() => {
      if (!isStopped) replaced = replace();
    });
  };
  watch(runner);
  /** The one that lives: a dead runner never answers. */
  const living = async (): Promise<RunnerProcess> => {
    await replaced;
    await runner.ready;
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
      askRunner(pinned, { request: { ...request, id: nextId() }, payload });
  return {
    async execute(options) {
      const now = await living();
      return withLoss(executeOn(now, nextId(), options), memory.note(options.work, now));
    },
    async ask(request, payload) {
      return askOf(await living())(request, payload);
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

/** In which runner each language has its state: it dies with that one, and the next does not know. */
const createStateMemory = () => {
  const runnerOf = new Map<Language, RunnerProcess>();
  return {
    /** True when what the language knew was lost with a runner before this one. */
    note: (work: Work, runner: RunnerProcess): boolean => {
      if (!('language' in work)) return false;
      const before = runnerOf.get(work.language);
      runnerOf.set(work.language, runner);
      return before !== undefined && before !== runner;
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
export type PlainRequest = WithoutId<Exclude<RunnerRequest, { type: 'start' | 'run-code' | 'kill' }>>;
type Asked = { readonly request: RunnerRequest; readonly payload: Buffer | undefined };

const askRunner = (runner: RunnerProcess, { request, payload }: Asked): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const deadline = setTimeout(() => runner.kill('a file operation got no answer'), fileOperationMsMax);
    const letGo = runner.listen(request.id, {
      take: (answer) => {
        settle();
        if (answer.message.type !== 'refused') resolve(answer);
        else reject(new Refusal(answer.message.failure, answer.message.message));
      },
      fail: (cause) => {
        settle();
        reject(cause);
      },
    });
    const settle = (): void => {
      clearTimeout(deadline);
      letGo();
    };
    runner.send(request, payload);
  });

const executeOn = (runner: RunnerProcess, id: number, options: ExecuteOptions): RunningExecution => {
  const { promise, resolve, reject } = Promise.withResolvers<Execution>();
  const patience = (waitMs: number): NodeJS.Timeout =>
    setTimeout(() => runner.kill('a call did not end in time'), waitMs);
  const { work, timeoutMs } = options;
  const killMsMax = 'language' in work ? codeGraceMs : graceMs;
  let deadline = patience(timeoutMs + killMsMax);
  const settle = (): void => {
    clearTimeout(deadline);
    letGo();
  };
  const take = ({ message, payload }: Answer): void => {
    if (message.type === 'output') {
      options.onOutput({ stream: message.stream, offset: message.offset, text: payload.toString() });
    } else if (message.type === 'exit') {
      settle();
      if (!message.isGone) runner.kill('processes of a call could not be killed');
      resolve({ exit: message, payload });
    } else {
      settle();
      reject(
        message.type === 'refused' ? new Refusal(message.failure, message.message) : unexpected(message.type),
      );
    }
  };
  const fail = (cause: Error): void => {
    settle();
    reject(cause);
  };
  const letGo = runner.listen(id, { take, fail });
  if ('language' in work) {
    runner.send({ type: 'run-code', id, language: work.language, timeoutMs }, Buffer.from(work.code));
  } else runner.send({ type: 'start', id, argv: work.argv, timeoutMs });
  const kill = (cause: KillCause): void => {
    clearTimeout(deadline);
    deadline = patience(killMsMax);
    runner.send({ type: 'kill', id, cause });
  };
  return { ended: promise, kill };
};

/** The answer that fits the question; the runner may be somebody else and say another. */
export const expectAnswer = <Type extends Answer['message']['type']>(
  { message }: Answer,
  type: Type,
): Extract<Answer['message'], { type: Type }> => {
  if (message.type !== type) throw unexpected(message.type);
  return message as Extract<Answer['message'], { type: Type }>;
};

const unexpected = (type: string): Error => new Error(`the runner answered ${type}`);
