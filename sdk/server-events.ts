/**
 * Server-sent events of an answer (HTML standard, section 9.2), and a stream of them that resumes by itself.
 *
 * An event counts when the blank line after it was read. After a break, everything behind the last such event is requested
 * again.
 */
import { connectionLost, SallyportError } from './errors.ts';
import { backOffMs, isLost, pause } from './retry.ts';

export type ServerEvent = { readonly event: string; readonly data: unknown };

/** The server sends a comment each 15 seconds: a connection that is silent for longer is dead. */
const silenceMsMax = 60_000;
const failuresMax = 10;
const standingMsMin = 10_000;

export async function* readServerEvents(response: Response): AsyncGenerator<ServerEvent, void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await withDeadline(reader.read(), silenceMsMax);
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = eventOf(block);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    // Ends the request, too, when the reader leaves early.
    void reader.cancel().catch(() => undefined);
  }
}

/** Undefined for a comment. */
const eventOf = (block: string): ServerEvent | undefined => {
  const lines = block.split(/\r?\n/);
  const fields = (name: string): string[] =>
    lines
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
  const data = fields('data');
  if (data.length === 0) return undefined;
  return { event: fields('event')[0] ?? 'message', data: JSON.parse(data.join('\n')) };
};

const withDeadline = async <T>(promise: Promise<T>, milliseconds: number): Promise<T> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(connectionLost()), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};

export type ResumedStream = {
  /** The answer from where the events that were taken end. */
  readonly open: () => Promise<Response>;
  /** False: the stream is over. */
  readonly isOpen: () => boolean;
  readonly signal?: AbortSignal | undefined;
};

/** Events of one answer after the other, until the reader of the last one closes it. */
export async function* resumeEvents(stream: ResumedStream): AsyncGenerator<ServerEvent, void> {
  let failures = 0;
  while (stream.isOpen()) {
    if (failures > 0) await pause(backOffMs(failures, Math.random()), stream.signal);
    const { hadProgress, cause } = yield* readOnce(stream);
    failures = hadProgress ? 0 : failures + 1;
    if (failures > failuresMax) throw connectionLost(cause);
  }
}

type End = { readonly hadProgress: boolean; readonly cause: unknown };

/** The events of one answer; a refusal is thrown, a connection that broke off is not. */
async function* readOnce({ open, signal }: ResumedStream): AsyncGenerator<ServerEvent, End> {
  const openedAt = Date.now();
  let hadEvents = false;
  let cause: unknown;
  try {
    for await (const event of readServerEvents(await open())) {
      if (event.event === 'error') throw refusalIn(event.data);
      hadEvents ||= event.event !== 'start';
      yield event;
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof SallyportError && !canResume(error)) throw error;
    cause = error;
  }
  // One that stood for a while and had nothing to say was no failure.
  return { hadProgress: hadEvents || Date.now() - openedAt > standingMsMin, cause };
}

/** One that was silent is asked again, too: it is asked from where its events end. */
const canResume = (error: SallyportError): boolean =>
  ['connection_lost', 'unreachable'].includes(error.code) || isLost(error);

const refusalIn = (data: unknown): SallyportError => {
  const { error } = data as { readonly error: { readonly code: string; readonly message: string } };
  return new SallyportError(0, error);
};
