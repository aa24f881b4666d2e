/**
 * A socket of a session that is made of requests, for a browser whose proxy lets no WebSocket through: it reads the log every few
 * seconds and sends actions as requests.
 *
 * Text comes whole, output of a call when it is done, and nothing of child sessions. It closes when the log cannot be read; the
 * connection comes back as it would with any other.
 */
import type { ApiClient, SocketLike } from '#sdk/api-client.ts';
import type { connectionLost, ErrorFacts } from '#sdk/errors.ts';
import type { fetchEvents } from '#sdk/event-feed.ts';
import type { LoggedFrame } from '#sdk/event-order.ts';
import type { ClientAction, Frame } from '#sdk/frames.ts';
import type { api } from '#sdk/routes.ts';

const pollMs = 3000;
const [connecting, open, closed] = [0, 1, 3];

const needsSocket: ErrorFacts = {
  code: 'invalid_request',
  message: 'this needs a WebSocket',
  suggestions: ['Ask the operator of your proxy to allow it.'],
  recoveryActions: [],
};

type Listen = (event: { readonly data: unknown }) => void;
type Socket = new (url: string) => SocketLike;

/** Of the client library: this module is loaded when it is needed, and an import of its own would split the first load. */
export type PollParts = {
  readonly client: ApiClient;
  readonly api: typeof api;
  readonly fetchEvents: typeof fetchEvents;
  readonly connectionLost: typeof connectionLost;
};

export const polledSocket = (parts: PollParts): Socket =>
  class implements SocketLike {
    readyState = connecting;
    readonly #id: string;
    #since: number;
    #hear: Listen = () => undefined;
    #onOpen = (): void => undefined;
    #onClose = (): void => undefined;
    #timer: ReturnType<typeof setTimeout> | undefined;

    constructor(url: string) {
      const { searchParams } = new URL(url);
      this.#id = searchParams.get('sessionId') ?? '';
      this.#since = Number(searchParams.get('since') ?? -1);
      void this.#begin().catch(() => this.#end());
    }

    addEventListener(type: string, listener: Listen | (() => void)): void {
      if (type === 'message') this.#hear = listener;
      if (type === 'open') this.#onOpen = listener as () => void;
      if (type === 'close') this.#onClose = listener as () => void;
    }

    send(text: string): void {
      const action = JSON.parse(text) as ClientAction;
      // As from afar: the one who asks begins to wait after this.
      if (action.action === 'ping') {
        queueMicrotask(() => this.#tell({ type: 'pong', data: {} }));
        return;
      }
      const messageId = action.action === 'message' ? action.messageId : undefined;
      void perform(parts, this.#id, action).then(
        () => this.#readSoon(0),
        (cause: { readonly facts?: ErrorFacts }) =>
          this.#tell({
            type: 'error',
            data: { error: cause.facts ?? parts.connectionLost(cause).facts, messageId },
          }),
      );
    }

    close(): void {
      this.readyState = closed;
      clearTimeout(this.#timer);
    }

    async #begin(): Promise<void> {
      const { provider, model, status } = await parts.client.request(parts.api.showSession, {
        params: { id: this.#id },
      });
      const frames = await this.#readLog();
      if (this.readyState === closed) return;
      this.readyState = open;
      // One that was left while it opened is closed by this.
      this.#onOpen();
      const data = { provider, model, status, sessionId: this.#id, lastSeq: this.#since };
      this.#tell({ type: 'system:ready', data });
      this.#pass(frames);
    }

    async #poll(): Promise<void> {
      this.#pass(await this.#readLog());
    }

    /** News, as many pages as there are. */
    async #readLog(): Promise<readonly LoggedFrame[]> {
      const all: LoggedFrame[] = [];
      for (;;) {
        const { isAnswered, frames, oldestSeq, error } = await parts.fetchEvents(parts.client, this.#id, {
          since: this.#since,
        });
        if (!isAnswered) throw error;
        all.push(...frames);
        const last = frames.at(-1)?.seq ?? (oldestSeq ?? 0) - 1;
        if (last <= this.#since) return all;
        this.#since = last;
      }
    }

    #pass(frames: readonly LoggedFrame[]): void {
      for (const frame of frames) this.#hear({ data: JSON.stringify(frame) });
      this.#readSoon(pollMs);
    }

    #readSoon(inMs: number): void {
      if (this.readyState !== open) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#poll().catch(() => this.#end()), inMs);
    }

    #tell(frame: Pick<Frame, 'type' | 'data'>): void {
      if (this.readyState === closed) return;
      const head = { sessionId: this.#id, seq: null, at: new Date().toISOString() };
      this.#hear({ data: JSON.stringify({ ...frame, ...head }) });
    }

    #end(): void {
      if (this.readyState === closed) return;
      this.close();
      this.#onClose();
    }
  };

const perform = ({ client, api }: PollParts, id: string, action: ClientAction): Promise<unknown> => {
  const params = { id };
  if (action.action === 'turn:cancel') return client.request(api.cancelTurn, { params });
  if (action.action === 'session:stop') return client.request(api.endSession, { params });
  if (action.action !== 'message') return Promise.reject({ facts: needsSocket });
  const { action: _, ...body } = action;
  return client.request(api.sendMessage, { params, body });
};
