/**
 * Webhooks, their notices and deliveries, and the lease of each sender. Every method is one read or one conditional
 * write, and says what it returns when it loses. Times are epoch milliseconds.
 *
 * The conformance suite is tests/conformance/webhook-store.test.ts.
 */
import type { Delivery, DeliveryRow, Settled } from '../domain/webhook/delivery.ts';
import type { Notice } from '../domain/webhook/notice.ts';
import type { Webhook, WebhookId } from '../domain/webhook/webhook.ts';

/** All of a deployment, and the version under which they were read. */
export type Webhooks = { readonly webhooks: readonly Webhook[]; readonly version: number };

/** Those who make webhooks, change them and look them up. */
export interface WebhookStore {
  /** Newest first, with all that was written before. */
  list(): Promise<Webhooks>;
  get(id: WebhookId): Promise<Webhook | undefined>;
  /** With its secret, which this store does not read back. `moved` when the webhooks are others by now. */
  create(
    webhook: Webhook,
    request: { readonly secret: string; readonly version: number },
  ): Promise<'created' | 'moved'>;
  /**
   * Over the version that was read; undefined when it has another, or is gone. For one that is enabled, the same write
   * makes its sender due, and tells the holder of its lease (WH9).
   */
  replace(webhook: Webhook): Promise<Webhook | undefined>;
  /** With its secret; false when it was deleted before. The sender clears its deliveries. */
  remove(id: WebhookId): Promise<boolean>;
  /** Puts notices of what is written elsewhere; one that is there is put again. */
  tell(notices: readonly Notice[]): Promise<void>;
  /** Newest first. `after` is what the page before gave as `next`. */
  deliveries(
    id: WebhookId,
    page: { readonly after?: string | undefined; readonly itemsMax: number; readonly now: number },
  ): Promise<{ readonly rows: readonly DeliveryRow[]; readonly next?: string }>;
}

/** The right to send to one webhook; `fence` grows with every holder, `wakes` with everything that is new for it. */
export type SenderLease = {
  readonly webhook: WebhookId;
  readonly fence: number;
  readonly wakes: number;
  /** When something was accepted last, as far as a former holder has said. */
  readonly acceptedAt?: number;
};

/** The sender alone has it. */
export interface DeliveryQueue {
  secretOf(id: WebhookId): Promise<string | undefined>;
  notice(id: string): Promise<Notice | undefined>;
  /**
   * The notice becomes a delivery to each, all or nothing; false when another caller was first. The same write makes
   * the sender of each webhook due, and tells the holder of its lease (WH9).
   */
  spread(notice: Notice, deliveries: readonly Delivery[]): Promise<boolean>;
  /** Notices that were not spread, and webhooks with something to send. */
  due(
    now: number,
    itemsMax: number,
  ): Promise<{ readonly notices: readonly string[]; readonly webhooks: readonly WebhookId[] }>;
  /** Undefined when another sender holds it: that one is told that there is something new. */
  takeLease(
    webhook: WebhookId,
    lease: { readonly at: number; readonly until: number },
  ): Promise<SenderLease | undefined>;
  /** The lease as it stands; undefined when another sender holds it. */
  renewLease(lease: SenderLease, until: number): Promise<SenderLease | undefined>;
  /** `kept` when something new came concurrently; `stale` when another sender holds it. Absent `dueAt`: nothing waits. */
  releaseLease(
    lease: SenderLease,
    next: { readonly dueAt: number | undefined; readonly acceptedAt: number | undefined },
  ): Promise<'released' | 'kept' | 'stale'>;
  /** Those whose attempt comes next, soonest first. */
  waiting(id: WebhookId, itemsMax: number): Promise<readonly Delivery[]>;
  /** Counted up to `countMax`. */
  countWaiting(id: WebhookId, countMax: number): Promise<number>;
  /** Records the outcome of an attempt; false when another sender settled it: the attempt counts for nothing then. */
  settle(read: Delivery, settled: Settled, row: DeliveryRow): Promise<boolean>;
  /** Deletes all that is left of a webhook that was removed. */
  clear(id: WebhookId): Promise<void>;
  publicUrl(): Promise<string | undefined>;
  keepPublicUrl(url: string): Promise<void>;
}
