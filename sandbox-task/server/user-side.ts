/**
 * The user's side of the sandbox as the server sees it: calls and files, through a runner that may die.
 *
 * A dead runner is replaced; what waited for it fails and is not repeated. The server keeps its own
 * deadline for each call, because user code can stop the runner that should keep it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FileEntry, KillCause, RunnerMessage, RunnerRequest, StreamName } from '../wire/messages.ts';
import type { Log } from './log.ts';
import { Refusal } from './refusal.ts';
import { parseFileEntries } from './runner-message.ts';
import { type Answer, type RunnerProcess, startRunner } from './runner-process.ts';

export type Exit = Extract<RunnerMessage, { type: 'exit' }>;
export type OutputPiece = { readonly stream: StreamName; readonly offset: number; readonly text: string };
export type Execution = { readonly exit: Exit; readonly payload: Buffer };
export type ExecuteOptions = {
  readonly argv: readonly string[];
  readonly timeoutMs: number;
  readonly onOutput: (piece: OutputPiece) => void;
};
export type RunningExecution = {
  readonly ended: Promise<Execution>;
  readonly kill: (cause: KillCause) => void;
};
export type FileChunk = { readonly bytes: Buffer; readonly size: number };

export type UserSide = {
  readonly execute: (options: ExecuteOptions) => Promise<RunningExecution>;
  readonly readChunk: (path: string, offset: number, bytesMax: number) => Promise<FileChunk>;
  readonly writeFile: (path: string, content: Buffer) => Promise<void>;
  readonly listFolder: (path: string) => Promise<readonly FileEntry[]>;
  readonly stop: () => void;
};

/** How much later than the runner the server loses patience, in milliseconds. */
const graceMs = 4000;
const fileOperationMsMax = 60_000;
const restartDelayMs = 100;

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

  const nextId = (): number => {
    lastId += 1;
    return lastId;
  };
  const ask = async (request: FileRequest, payload?: Buffer): Promise<Answer> => {
    return askRunner(await living(), { request: { ...request, id: nextId() }, payload });
  };
  return {
    async execute(options) {
      return executeOn(await living(), nextId(), options);
    },
    async readChunk(path, offset, bytesMax) {
      const { message, payload } = await ask({ type: 'read', path, offset, bytesMax });
      if (message.type !== 'chunk') throw unexpected(message.type);
      return { bytes: payload, size: message.size };
    },
    async writeFile(path, content) {
      await ask({ type: 'write', path }, content);
    },
    async listFolder(path) {
      const { message, payload } = await ask({ type: 'list', path });
      if (message.type !== 'listed') throw unexpected(message.type);
      return parseFileEntries(payload);
    },
    stop() {
      isStopped = true;
      runner.kill('the server stops');
    },
  };
};

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;
type FileRequest = WithoutId<Extract<RunnerRequest, { type: 'read' | 'write' | 'list' }>>;
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
  let deadline = patience(options.timeoutMs + graceMs);
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
      reject(unexpected(message.type));
    }
  };
  const fail = (cause: Error): void => {
    settle();
    reject(cause);
  };
  const letGo = runner.listen(id, { take, fail });
  runner.send({ type: 'start', id, argv: options.argv, timeoutMs: options.timeoutMs });
  const kill = (cause: KillCause): void => {
    clearTimeout(deadline);
    deadline = patience(graceMs);
    runner.send({ type: 'kill', id, cause });
  };
  return { ended: promise, kill };
};

const unexpected = (type: string): Error => new Error(`the runner answered ${type}`);
