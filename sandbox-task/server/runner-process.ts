/**
 * One life of the runner: its process, its pipe, the requests that wait for an answer, and the calls on it.
 *
 * Its end, for any cause (user code, a malformed message, the server), ends every user process and fails every waiting
 * request; nothing is asked again, because it may have run in part. The server keeps a deadline of its own for each
 * call: user code can stop the runner that should keep the time. A runner that loses a call is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { createFrameReader, encodeFrame } from '../wire/frame.ts';
import type { KillCause, RunnerMessage, RunnerRequest } from '../wire/messages.ts';
import type { Log } from './logs.ts';
import { Refusal } from './refusal.ts';
import { endProcessesOf, readUid, type UserScores, watchUserScores } from './user-processes.ts';

export type Answer = {
  readonly message: Exclude<RunnerMessage, { type: 'ready' | 'stdio-log' }>;
  readonly payload: Buffer;
};
type AnswerListener = {
  readonly onAnswer: (answer: Answer) => void;
  readonly onFailure: (cause: Error) => void;
  /** It listens for as long as a process lives: the scores of what that starts are inherited. */
  readonly isLasting: boolean;
};

export type RunnerProcess = {
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  readonly hasEnded: () => boolean;
  readonly send: (request: RunnerRequest, payload?: Buffer) => void;
  /** Answers under this id go to the listener until it lets go. */
  readonly listen: (id: number, listener: AnswerListener) => () => void;
  readonly kill: (why: string) => void;
};

/** The stderr of a crashing runner, for the log; user code could write there without end. */
const stderrBytesMax = 2000;

export type RunnerStart = {
  readonly argv: readonly string[];
  /** True if user processes cannot set their own scores (user-processes.ts). */
  readonly raisesScores: boolean;
  readonly log: Log;
  /** Of its messages; loaded when it says something, which is after the server's first answer. */
  readonly parser: () => Promise<(header: unknown) => RunnerMessage>;
  /** Lines that MCP servers on the user's side write on stderr. */
  readonly onStdioLog: (server: string, text: string) => void;
};

export const startRunner = ({ argv, raisesScores, log, parser, onStdioLog }: RunnerStart): RunnerProcess => {
  const [program = '', ...parameters] = argv;
  const child = spawn(program, parameters, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'], env: {} });
  const pipe = child.stdio[3] as Duplex;
  const listeners = new Map<number, AnswerListener>();
  let userUid: number | undefined;
  let scores: UserScores | undefined;
  let isEnded = false;
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  ready.promise.catch(() => undefined);

  const kill = (why: string): void => {
    log.warn('runner killed', { why });
    child.kill('SIGKILL');
  };
  const deliver = (message: RunnerMessage, payload: Buffer): void => {
    if (message.type === 'ready') {
      userUid = readUid(child.pid);
      if (raisesScores)
        scores = watchUserScores(child.pid ?? 0, () =>
          [...listeners.values()].some(({ isLasting }) => !isLasting),
        );
      ready.resolve();
    } else if (message.type === 'stdio-log') onStdioLog(message.server, payload.toString());
    else listeners.get(message.id)?.onAnswer({ message, payload });
  };
  const readWith = (parse: (header: unknown) => RunnerMessage): void => {
    const read = createFrameReader(({ header, payload }) => deliver(parse(header), payload));
    pipe.on('data', (chunk: Buffer) => {
      try {
        read(chunk);
      } catch (cause) {
        pipe.removeAllListeners('data').resume();
        kill(`it does not speak the protocol: ${cause instanceof Error ? cause.name : ''}`);
      }
    });
  };
  pipe.once('readable', () => {
    parser().then(readWith, (cause: unknown) => kill(`its messages cannot be read: ${String(cause)}`));
  });
  pipe.on('error', () => undefined);

  const stderrText = collectStderr(child);
  const end = (code: number | null, signal: string | null): void => {
    scores?.stop();
    endProcessesOf(userUid);
    log.warn('runner ended', { code, signal, stderrText: stderrText() });
    isEnded = true;
    ready.reject(new Refusal('sandbox_unavailable', 'the sandbox could not start its runner'));
    for (const listener of listeners.values()) listener.onFailure(new Refusal('tool_outcome_unknown', lost));
    listeners.clear();
    pipe.destroy();
    ended.resolve();
  };
  child.once('exit', end);
  child.once('error', () => {
    if (child.pid === undefined) end(null, null);
  });

  return {
    ready: ready.promise,
    ended: ended.promise,
    hasEnded: () => isEnded,
    send: (request, payload) => {
      if (isEnded) return;
      pipe.write(encodeFrame(request, payload));
      scores?.wake();
    },
    listen: (id, listener) => {
      // A listener of an ended runner must learn that it will not answer.
      if (isEnded) queueMicrotask(() => listener.onFailure(new Refusal('tool_outcome_unknown', lost)));
      else listeners.set(id, listener);
      return () => listeners.delete(id);
    },
    kill,
  };
};

const lost = 'all processes of the sandbox were killed while this ran: it may have run in part';

const collectStderr = (child: ChildProcess): (() => string) => {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    if (text.length < stderrBytesMax) text += piece.slice(0, stderrBytesMax);
  });
  return () => text.trim();
};

type CallOptions = {
  readonly request: RunnerRequest;
  readonly payload: Buffer | undefined;
  /** None when absent. */
  readonly timeoutMs: number | undefined;
  readonly isLasting?: boolean;
  /** The server's deadline comes this long after the runner's, in milliseconds. A file operation has only the server's. */
  readonly killMsMax: number;
  /** True for a message that is not the last. */
  readonly onPiece: (answer: Answer) => boolean;
};
export type RunningCall = {
  /** The last message; a refusal of the runner is thrown. */
  readonly ended: Promise<Answer>;
  readonly kill: (cause: KillCause) => void;
};

export const followCall = (runner: RunnerProcess, id: number, options: CallOptions): RunningCall => {
  const { request, payload, timeoutMs, killMsMax, onPiece, isLasting = false } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const startDeadline = (waitMs: number): NodeJS.Timeout =>
    setTimeout(() => runner.kill('a call did not end in time'), waitMs);
  let deadline = timeoutMs === undefined ? undefined : startDeadline(timeoutMs + killMsMax);
  let isOver = false;
  const settle = (): void => {
    isOver = true;
    clearTimeout(deadline);
    unlisten();
  };
  const onAnswer = (answer: Answer): void => {
    if (onPiece(answer)) return;
    settle();
    const { message } = answer;
    if ('isEnded' in message && !message.isEnded) runner.kill('processes of a call could not be killed');
    if (message.type === 'refused') reject(new Refusal(message.failure, message.message));
    else resolve(answer);
  };
  const onFailure = (cause: Error): void => {
    settle();
    reject(cause);
  };
  const unlisten = runner.listen(id, { onAnswer, onFailure, isLasting });
  try {
    runner.send(request, payload);
  } catch (cause) {
    onFailure(cause instanceof Error ? cause : new Error(String(cause)));
  }
  const kill = (cause: KillCause): void => {
    // Nothing would end the deadline of a call that has ended, and it would take all processes of the sandbox.
    if (isOver) return;
    clearTimeout(deadline);
    deadline = startDeadline(killMsMax);
    runner.send({ type: 'kill', id, cause });
  };
  return { ended: promise, kill };
};
