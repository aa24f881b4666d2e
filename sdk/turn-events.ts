/**
 * The events of one message and its turn, or of the turn that repeats a failed one: each once and in order, even if the
 * connection breaks.
 *
 * They come over a WebSocket. If there is none, as in Node before 22, or if none reaches the deployment, the log is polled. The
 * text of the model then arrives all at once, not piece by piece.
 */
import type { ApiClient } from './api-client.ts';
import { connectionLost, SallyportError } from './errors.ts';
import { eventsPerPageMax, fetchEvents } from './event-feed.ts';
import { makeFrameQueue } from './frame-queue.ts';
import type { Frame } from './frames.ts';
import { backOffMs, pause } from './retry.ts';
import type { Signalled } from './route.ts';
import { api, type Session } from './routes.ts';
import { connectToSession } from './session-connection.ts';
import { openTextPieces } from './text-pieces.ts';

export type MessageOptions = {
  readonly model?: string | undefined;
  /** The time that the model thinks before it answers, as a level; absent: as in the session. */
  readonly thinking?: NonNullable<Session['thinking']> | undefined;
  /** The same id is accepted once: sent again, it gives the events of the first time. Absent: a new one. */
  readonly messageId?: string | undefined;
  /** Files of the workspace that it is about: images are shown to the model, others named. */
  readonly attachments?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

type Message = MessageOptions & { readonly text: string };

/** Pauses between two looks at the log: short while something happens. */
const lookMs = { first: 200, max: 2000 };
const failuresMax = 20;
/** Tries of a first connection: some networks let no WebSocket through. */
const firstFailuresMax = 3;

export async function* sendAndFollow(
  client: ApiClient,
  sessionId: string,
  message: Message,
): AsyncGenerator<Frame, void> {
  const { messageId = crypto.randomUUID(), text, model, thinking, attachments, signal } = message;
  // One that was sent before may have all of its events already.
  const known =
    message.messageId === undefined ? undefined : await findMessage(client, sessionId, { messageId, signal });
  const files = attachments?.map((path) => ({ path }));
  const body = { text, messageId, model, thinking, attachments: files };
  yield* followTurn(client, sessionId, {
    since: known?.since,
    request: async () => {
      if (known?.isFound === true) return;
      await client.request(api.sendMessage, { params: { id: sessionId }, body }, { signal, repeat: 'lost' });
    },
    begins: (frame) => frame.type === 'message' && frame.data.messageId === messageId,
    signal,
  });
}

/** Has the last turn repeated, which failed. */
export const retryAndFollow = (
  client: ApiClient,
  sessionId: string,
  { signal }: Signalled,
): AsyncGenerator<Frame, void> =>
  followTurn(client, sessionId, {
    request: () => client.request(api.retryTurn, { params: { id: sessionId } }, { signal }),
    begins: (frame) => frame.type === 'system' && frame.data.kind === 'turn_retried',
    signal,
  });

/** Where the log says the message, or else its end: events after `since` are those of the message, or not known yet. */
const findMessage = async (
  client: ApiClient,
  sessionId: string,
  { messageId, signal }: Signalled & { readonly messageId: string },
): Promise<{ readonly since: number; readonly isFound: boolean }> => {
  const params = { id: sessionId };
  let [since, oldest] = [-1, 0];
  for (;;) {
    const query = { since_index: since, max_events: eventsPerPageMax };
    const { events } = await client.request(api.readEvents, { params, query }, { signal });
    const found = events.find(({ type, data }) => type === 'message' && data['messageId'] === messageId);
    if (found !== undefined) return { since: found.index - 1, isFound: true };
    if (since === -1) oldest = events[0]?.index ?? 0;
    const last = events.at(-1);
    if (last === undefined) break;
    since = last.index;
  }
  // Its events may be among those that are no longer kept: a message of the history is not accepted again.
  const { messages } =
    oldest === 0 ? { messages: [] } : await client.request(api.readMessages, { params }, { signal });
  if (messages.some((one) => one.role === 'user' && one.messageId === messageId)) throw eventsLost(oldest);
  return { since, isFound: false };
};

type Asked = Signalled & {
  /** The last event that is known; absent: the last one there is when following begins. */
  readonly since?: number | undefined;
  readonly request: () => Promise<unknown>;
  readonly begins: (frame: Frame) => boolean;
};

async function* followTurn(client: ApiClient, sessionId: string, asked: Asked): AsyncGenerator<Frame, void> {
  const follow = client.hasSockets ? followSocket : followLog;
  let isSeen = false;
  for await (const frame of follow(client, sessionId, asked)) {
    const isOwn = frame.sessionId === sessionId && frame.seq !== null;
    isSeen ||= isOwn && asked.begins(frame);
    yield frame;
    if (isSeen && isOwn && frame.type === 'completion') return;
  }
}

async function* followSocket(
  client: ApiClient,
  sessionId: string,
  asked: Asked,
): AsyncGenerator<Frame, void> {
  const { signal, since } = asked;
  const queue = makeFrameQueue();
  const pieceOf = openTextPieces();
  let wasConnected = false;
  let isBlocked = false;
  const connection = connectToSession(client, {
    ...{ sessionId, since, failuresMax, isWhole: true },
    onFrame: (frame) => {
      const rest = pieceOf(frame);
      if (rest !== undefined) queue.add(rest);
    },
    onState: (state) => {
      // Events before the connection stands would be missed.
      if (state.kind === 'connected' && !wasConnected) asked.request().catch(queue.close);
      wasConnected ||= state.kind === 'connected';
      if (state.kind === 'ended') queue.close(state.error);
      if (state.kind !== 'lost' || !state.isBlocked || wasConnected) return;
      isBlocked = state.failures >= firstFailuresMax;
      if (isBlocked) queue.close();
    },
    onEventsLost: (oldestSeq) => queue.close(eventsLost(oldestSeq)),
  });
  const stop = (): void => queue.close(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    for (let frame = await queue.next(); frame !== undefined; frame = await queue.next())
      if (frame.type !== 'system:ready' && frame.type !== 'pong') yield frame;
  } finally {
    signal?.removeEventListener('abort', stop);
    connection.close();
  }
  if (isBlocked) yield* followLog(client, sessionId, asked);
}

async function* followLog(client: ApiClient, sessionId: string, asked: Asked): AsyncGenerator<Frame, void> {
  const { signal } = asked;
  // Of a message that was sent twice, the second answer may come after its events.
  let last = asked.since ?? (await lastIndexOf(client, sessionId, signal));
  await asked.request();
  let pauseMs = lookMs.first;
  for (let failures = 0; failures <= failuresMax; ) {
    const page = await fetchEvents(client, sessionId, { since: last, signal });
    if (page.oldestSeq !== null && page.oldestSeq > last + 1) throw eventsLost(page.oldestSeq);
    if (isFinal(page.error)) throw page.error;
    for (const frame of page.frames) {
      last = frame.seq;
      yield frame;
    }
    failures = page.isAnswered ? 0 : failures + 1;
    pauseMs = page.frames.length > 0 ? lookMs.first : Math.min(1.5 * pauseMs, lookMs.max);
    await pause(failures === 0 ? pauseMs : backOffMs(failures, Math.random()), signal);
  }
  throw connectionLost();
}

/** Another look would be refused as this one was. */
const isFinal = (error: unknown): boolean =>
  error instanceof SallyportError &&
  !['events_purged', 'rate_limited'].includes(error.code) &&
  error.status >= 400 &&
  error.status < 500;

/** An index that no log reaches: the answer has no events. */
const beyondAnyLog = 1_000_000_000;

const lastIndexOf = async (
  client: ApiClient,
  sessionId: string,
  signal: AbortSignal | undefined,
): Promise<number> => {
  const parts = { params: { id: sessionId }, query: { since_index: beyondAnyLog, max_events: 1 } };
  return (await client.request(api.readEvents, parts, { signal })).lastIndex;
};

const eventsLost = (oldestSeq: number): SallyportError =>
  new SallyportError(410, {
    code: 'events_purged',
    message: `events before ${oldestSeq} are no longer kept`,
    suggestions: ['Read the conversation with messages().'],
  });
