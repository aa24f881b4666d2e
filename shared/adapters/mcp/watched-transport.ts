/**
 * An MCP transport that answers for a server which no longer will.
 *
 * The client waits for its timeout when a stream ends without a result, or when an answer is for another request
 * than the one sent. Here such a request is answered with an error at once. A request that was sent is
 * remembered: it may have run.
 */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';

type Id = string | number;

/** The code of the error that replaces a lost answer. */
export const lostCode = -32_000;
export const lostMessage = 'it closed the connection before it answered';

export class WatchedTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  readonly hasPerRequestStream: boolean;
  readonly #inner: Transport;
  readonly #open = new Set<Id>();
  readonly #notices = new Set<Promise<void>>();
  #isCallSent = false;

  constructor(inner: Transport) {
    this.#inner = inner;
    this.hasPerRequestStream = inner.hasPerRequestStream === true;
  }

  /** True when a tool call was passed on to be sent. */
  get isCallSent(): boolean {
    return this.#isCallSent;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message, extra) => {
      if (!('method' in message) && message.id !== undefined) this.#open.delete(message.id);
      this.onmessage?.(message, extra);
    };
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    if ('method' in message && message.method === 'tools/call') this.#isCallSent = true;
    if (id !== undefined) this.#open.add(id);
    const sending = this.#inner.send(message, {
      ...options,
      ...(id === undefined ? {} : { onRequestStreamEnd: () => this.lose(id) }),
    });
    if (id === undefined) this.#notices.add(sending);
    await sending.finally(() => this.#notices.delete(sending));
  }

  /** No further request will get an answer. */
  loseAll(): void {
    for (const id of [...this.#open]) this.lose(id);
  }

  /** Resolves when pending notifications were sent or given up: that of a cancellation among them. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#notices);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** This request will get no answer; no effect when it already has one. */
  lose(id: Id): void {
    if (!this.#open.delete(id)) return;
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: lostCode, message: lostMessage } });
  }
}
