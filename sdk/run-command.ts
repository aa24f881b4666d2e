/**
 * Commands that run to their end: one request for a short one, and for a long one the output of its process.
 *
 * A command whose live output is wanted, or that can be aborted, is read as events from the start, since those name the
 * process.
 */
import type { ApiClient } from './api-client.ts';
import { connectionLost, SallyportError } from './errors.ts';
import { type Followed, followOutput, type OutputEvent, type ProcessExit } from './process-output.ts';
import { isLost } from './retry.ts';
import { type BodyOf, pathOf, type Signalled } from './route.ts';
import { api, type CodeResult, type ExecResult } from './routes.ts';

export type OutputListeners = {
  readonly onStdout?: ((text: string) => void) | undefined;
  readonly onStderr?: ((text: string) => void) | undefined;
};
export type ExecOptions = Omit<BodyOf<typeof api.exec>, 'command'> &
  OutputListeners &
  Signalled & {
    /** Of an aborted command: it has ended or never began, or this failure left that unknown. */
    readonly onEnded?: ((failure?: unknown) => void) | undefined;
  };
export type CodeOptions = Omit<BodyOf<typeof api.runCode>, 'code'> & Signalled;

/** The server answers each try after 45 seconds at the latest. */
const answerMsMax = 240_000;
/** Besides the time that the code itself may take. */
const codeMarginMs = 200_000;
const codeSecondsDefault = 30;
/** An abandoned command is ended even by a client that repeats no request. */
const endTriesMax = 6;

export const runCommand = async (
  client: ApiClient,
  sessionId: string,
  { onStdout, onStderr, onEnded, signal, ...body }: ExecOptions & { readonly command: string },
): Promise<ExecResult> => {
  signal?.throwIfAborted();
  const startedAt = Date.now();
  const listeners = { onStdout, onStderr };
  const params = { id: sessionId };
  const options = { timeoutMs: answerMsMax, repeat: 'refused' } as const;
  if (onStdout === undefined && onStderr === undefined && signal === undefined) {
    const answer = await client.request(api.exec, { params, body }, options);
    if (!('processId' in answer)) return answer;
    return collect(client, { sessionId, startedAt, listeners, processId: answer.processId });
  }
  const abort = abortWhenNamed(signal);
  const follow = async (): Promise<ExecResult> => {
    const first = await client.fetch(pathOf(api.exec.path, params), {
      ...options,
      ...{ signal: abort.signal, triesSignal: signal, method: 'POST', body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    });
    const { signal: stopped, onNamed } = abort;
    return collect(client, { sessionId, startedAt, listeners, first, signal: stopped, onNamed });
  };
  const followed = follow();
  try {
    return await Promise.race([followed, abort.unnamed]);
  } catch (error) {
    if (!signal?.aborted) throw error;
    void followed.then(
      () => onEnded?.(),
      (cause) => onEnded?.(isOver(cause, signal, abort.isNamed()) ? undefined : cause),
    );
    throw signal.reason;
  } finally {
    abort.release();
  }
};

/** A command without a name has not begun if its request was refused, and may have if the answer was lost. */
const isOver = (cause: unknown, { reason }: AbortSignal, isNamed: boolean): boolean =>
  cause === reason || (!isNamed && cause instanceof SallyportError && cause.status >= 400 && !isLost(cause));

/** A command is ended by its id. An abort before the id is known is reported at once, and takes effect when the id comes. */
const abortWhenNamed = (given: AbortSignal | undefined) => {
  const named = new AbortController();
  let isNamed = false;
  let tell = (_reason: unknown): void => undefined;
  const unnamed = new Promise<never>((_, reject) => {
    tell = reject;
  });
  const stop = (): void => (isNamed ? named.abort(given?.reason) : tell(given?.reason));
  given?.addEventListener('abort', stop, { once: true });
  return {
    signal: named.signal,
    unnamed,
    isNamed: (): boolean => isNamed,
    onNamed: (): void => {
      isNamed = true;
      if (given?.aborted) named.abort(given.reason);
    },
    release: (): void => given?.removeEventListener('abort', stop),
  };
};

type Collected = Omit<Followed, 'onStart' | 'offset'> & {
  readonly onNamed?: () => void;
  readonly sessionId: string;
  readonly startedAt: number;
  readonly listeners: OutputListeners;
};

const collect = async (
  client: ApiClient,
  { sessionId, startedAt, listeners, onNamed = () => undefined, ...followed }: Collected,
): Promise<ExecResult> => {
  const output = makeOutputCollector();
  let { processId } = followed;
  const onStart = (id: string): void => {
    processId = id;
    onNamed();
  };
  try {
    for await (const event of followOutput(client, sessionId, { ...followed, onStart })) {
      followed.signal?.throwIfAborted();
      output.add(event);
      report(event, listeners);
      if (event.type === 'exit' && (event.isLost || event.isOutputLost)) throw outcomeUnknown(event);
      if (event.type === 'exit')
        return { exitCode: event.exitCode, ...output.result(), durationMs: Date.now() - startedAt };
    }
  } catch (error) {
    if (processId === undefined) throw error;
    const process = { id: sessionId, processId };
    if (followed.signal?.aborted) {
      await endProcess(client, process);
      throw followed.signal.reason;
    }
    // A listener threw: its caller gave the command up, and hears of that alone.
    if (!(error instanceof SallyportError)) await endProcess(client, process).catch(() => undefined);
    throw error;
  }
  throw connectionLost();
};

/** Its exit code went with its sandbox, or what was left of its output. */
const outcomeUnknown = ({ isLost, exitCode }: ProcessExit): SallyportError =>
  new SallyportError(0, {
    code: 'tool_outcome_unknown',
    message: isLost
      ? 'the command was lost with its sandbox'
      : `the command ended with exit code ${exitCode}, and output of it was lost with its sandbox`,
    suggestions: ['Check the workspace before you run it again.'],
  });

const report = (event: OutputEvent, { onStdout, onStderr }: OutputListeners): void => {
  if (event.type !== 'output') return;
  if (event.stream === 'stderr') onStderr?.(event.text);
  else onStdout?.(event.text);
};

/** An aborted command does not go on; one that is no longer found has ended. */
const endProcess = async (
  client: ApiClient,
  params: { readonly id: string; readonly processId: string },
): Promise<void> => {
  try {
    await client.request(api.endProcess, { params }, { triesMax: endTriesMax });
  } catch (cause) {
    if (!(cause instanceof SallyportError) || cause.status !== 404) throw cause;
  }
};

export const runCode = async (
  client: ApiClient,
  sessionId: string,
  { signal, ...body }: CodeOptions & { readonly code: string },
): Promise<CodeResult> => {
  const { timeoutSeconds = codeSecondsDefault } = body;
  return client.request(
    api.runCode,
    { params: { id: sessionId }, body },
    { signal, timeoutMs: codeMarginMs + timeoutSeconds * 1000, repeat: 'refused' },
  );
};

const partCharactersMax = 256 * 1024;

type Stream = 'stdout' | 'stderr';

/** The first and the last part of each stream, as the server keeps them, however much was printed. */
const makeOutputCollector = () => {
  const streams = { stdout: makeTextCollector(), stderr: makeTextCollector() };
  return {
    add: (event: OutputEvent): void => {
      // A gap may be of either stream.
      if (event.type === 'gap') streams.stdout.leaveOut(event.to - event.from);
      if (event.type === 'output') streams[streamOf(event.stream)].add(event.text);
    },
    result: () => ({
      stdout: streams.stdout.text(),
      stderr: streams.stderr.text(),
      ...(streams.stdout.isTruncated() ? { stdoutTruncated: true as const } : {}),
      ...(streams.stderr.isTruncated() ? { stderrTruncated: true as const } : {}),
    }),
  };
};

const streamOf = (stream: Stream | 'pty'): Stream => (stream === 'stderr' ? 'stderr' : 'stdout');

const makeTextCollector = () => {
  let head = '';
  let tail = '';
  let leftOut = 0;
  const cutTail = (charactersMax: number): void => {
    if (tail.length <= charactersMax) return;
    leftOut += tail.length - partCharactersMax;
    tail = tail.slice(-partCharactersMax);
  };
  return {
    add: (text: string): void => {
      const room = leftOut > 0 ? 0 : Math.max(0, partCharactersMax - head.length);
      head += text.slice(0, room);
      tail += text.slice(room);
      cutTail(2 * partCharactersMax);
    },
    leaveOut: (count: number): void => {
      leftOut += count;
    },
    isTruncated: (): boolean => leftOut > 0 || tail.length > partCharactersMax,
    text: (): string => {
      cutTail(partCharactersMax);
      return leftOut === 0 ? head + tail : `${head}\n[... ${leftOut} bytes left out ...]\n${tail}`;
    },
  };
};
