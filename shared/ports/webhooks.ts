/**
 * Webhooks, their notices and deliveries, and the lease of each sender. Every method is one read or one
 * conditional write, and says what it returns when it loses. Times are epoch milliseconds.
 *
 * The conformance suite is tests/conformance/webhook-store.test.ts.
 */
import type { AuditRow } from '../domain/audit.ts';
import type { Delivery, DeliveryRow, Settled } from '../domain/webhook/delivery-retry.ts';
import type { Notice } from '../domain/webhook/notice.ts';
import type { Webhook, WebhookId } from '../domain/webhook/webhook.ts';

/** All of a deployment, and the version under which they were read. */
export type Webhooks = { readonly webhooks: readonly Webhook[]; readonly version: number };

/** The store of the functions that create, change and look up webhooks. */
export interface WebhookStore {
  /** Newest first, with all that was written before. */
  list(): Promise<Webhooks>;
  get(id: WebhookId): Promise<Webhook | undefined>;
  /**
   * With its secret, which this store does not read back. `moved` when the set of webhooks has changed, `gone` when its project is
   * deleted.
   */
  create(
    webhook: Webhook,
    request: { readonly secret: string; readonly version: number },
  ): Promise<'created' | 'moved' | 'gone'>;
  /**
   * Over the version that was read; undefined when it has changed or is deleted. For an enabled one, the same
   * write makes its sender due and marks the holder's lease (WH9).
   */
  replace(webhook: Webhook): Promise<Webhook | undefined>;
  /** With its secret; false when it was deleted before. The sender clears its deliveries. */
  remove(id: WebhookId, audits: readonly AuditRow[]): Promise<boolean>;
  /** Puts notices of events that are written elsewhere; an existing one is put again. */
  tell(notices: readonly Notice[]): Promise<void>;
  /** Newest first. `after` is the previous page's `next`. */
  deliveries(
    id: WebhookId,
    page: { readonly after?: string | undefined; readonly itemsMax: number; readonly now: number },
  ): Promise<{ readonly rows: readonly DeliveryRow[]; readonly next?: string }>;
}

/** The right to send to one webhook; `fence` grows with every holder, `wakes` with every new piece of work. */
export type SenderLease = {
  readonly webhook: WebhookId;
  readonly fence: number;
  readonly wakes: number;
  /** The last acceptance that a holder has recorded; a renewal records it. */
  readonly acceptedAt?: number;
};

/** The store of the sender alone. */
export interface DeliveryQueue {
  secretOf(id: WebhookId): Promise<string | undefined>;
  notice(id: string): Promise<Notice | undefined>;
  /**
   * Turns the notice into a delivery to each webhook, all or nothing; false when another caller was first. The
   * same write makes the sender of each webhook due and marks the holder's lease (WH9).
   */
  spread(notice: Notice, deliveries: readonly Delivery[]): Promise<boolean>;
  /** Notices that were not spread, and webhooks with something to send: all of them, page by page, each once. */
  due(
    now: number,
    pageMax: number,
  ): AsyncIterable<{ readonly notices: readonly string[]; readonly webhooks: readonly WebhookId[] }>;
  /** Undefined when another sender holds it: its lease is then marked. */
  takeLease(
    webhook: WebhookId,
    lease: { readonly at: number; readonly until: number },
  ): Promise<SenderLease | undefined>;
  /** The lease as it stands; undefined when another sender holds it. */
  renewLease(lease: SenderLease, until: number): Promise<SenderLease | undefined>;
  /** `kept` when new work arrived concurrently; `stale` when another sender holds it. Absent `dueAt`: nothing waits. */
  releaseLease(
    lease: SenderLease,
    next: { readonly dueAt: number | undefined; readonly acceptedAt: number | undefined },
  ): Promise<'released' | 'kept' | 'stale'>;
  /** The deliveries with the next attempts, soonest first. */
  waiting(id: WebhookId, itemsMax: number): Promise<readonly Delivery[]>;
  /** Counted up to `countMax`. */
  countWaiting(id: WebhookId, countMax: number): Promise<number>;
  /** Records the outcome of an attempt; false when another sender recorded one: the attempt then does not count. */
  settle(read: Delivery, settled: Settled, row: DeliveryRow): Promise<boolean>;
  /** Deletes the remains of a removed webhook. */
  clear(id: WebhookId): Promise<void>;
  publicUrl(): Promise<string | undefined>;
  keepPublicUrl(url: string): Promise<void>;
}

export type SignedRequest = {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  /** The header `webhook-id`. */
  readonly id: string;
  /** The time of the attempt, in epoch milliseconds. */
  readonly at: number;
  readonly body: string;
};

/**
 * One signed request to a receiver: the adapter decides where it may go, how it is signed and how much of the
 * answer is read.
 */
export interface WebhookPost {
  /** Never throws: `error` is the reason of a refusal, `status` is there when there was an answer. */
  send(request: SignedRequest): Promise<{ readonly status?: number; readonly error?: string }>;
}

/** Makes a new signing key, in the form that its owner gets. */
export interface SecretMaker {
  newSecret(): string;
}

/** Invokes the sender: synchronously for a test, asynchronously after a change. */
export interface WebhookDispatcher {
  /** Sends a test now. */
  test(webhook: string): Promise<{
    readonly ok: boolean;
    readonly status?: number | undefined;
    readonly durationMs: number;
    readonly error?: string | undefined;
  }>;
  /** Reports a change of it: it was enabled or deleted. */
  dispatch(webhook: string): Promise<void>;
}
