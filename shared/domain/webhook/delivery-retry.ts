/** A delivery of one notice to one webhook, and its retries: until it is accepted or its day is over (WH3, WH4). */
import { deliveryKeptMs, retryForMs, retryMsMax } from './limits.ts';
import type { Webhook, WebhookEvent, WebhookId } from './webhook.ts';

export const deliveryStates = ['waiting', 'delivered', 'failed'] as const;
type DeliveryState = (typeof deliveryStates)[number];

/** One that waits for its next attempt. */
export type Delivery = {
  readonly webhook: WebhookId;
  /** The notice's id, and the header `webhook-id`. */
  readonly id: string;
  readonly type: WebhookEvent;
  /** The time of the event, in epoch milliseconds as every time here. */
  readonly at: number;
  readonly body: string;
  readonly attempts: number;
  readonly nextAt: number;
  readonly firstAttemptAt?: number;
  readonly lastAttemptAt?: number;
  readonly lastStatus?: number;
  readonly lastError?: string;
};

/** A delivery as it is listed, also after it ended. */
export type DeliveryRow = Omit<Delivery, 'body' | 'webhook' | 'nextAt' | 'firstAttemptAt'> & {
  readonly state: DeliveryState;
  readonly nextAt?: number;
};

/** The outcome of an attempt. `status` is absent when there was no answer. */
export type Outcome = {
  readonly durationMs: number;
  readonly status?: number;
  /** Absent: it was accepted. */
  readonly error?: string;
};

/** 2xx is accepted and nothing else: a redirect is not followed (WH5). */
export const isAccepted = ({ error }: Outcome): boolean => error === undefined;

/** The receiver says that it no longer exists (RFC 9110, 15.5.11; Standard Webhooks). */
export const isGone = ({ status }: Outcome): boolean => status === 410;

/** The pause after this many attempts, in milliseconds: the first pause, doubled each time, up to an hour. */
export const pauseAfter = (attempts: number, firstPauseMs: number): number =>
  Math.min(retryMsMax, firstPauseMs * 2 ** Math.min(attempts - 1, 30));

/** It is sent no more: its retention is over, and the table deletes it some time later. */
export const isExpired = ({ at }: Pick<Delivery, 'at'>, now: number): boolean => now >= at + deliveryKeptMs;

export type Settled =
  | { readonly state: 'delivered' }
  | { readonly state: 'waiting'; readonly next: Delivery }
  /** Its day is over, and the receiver has accepted others since: this delivery is given up. */
  | { readonly state: 'failed'; readonly next: Delivery }
  /** Its day is over, and the receiver accepted nothing: the webhook is disabled, and its deliveries go on waiting. */
  | { readonly state: 'exhausted'; readonly next: Delivery };

export type Attempt = {
  readonly outcome: Outcome;
  /** The end of the attempt. */
  readonly at: number;
  readonly firstPauseMs: number;
  /** The webhook's: enabling one again gives its waiting deliveries another day. */
  readonly enabledAt: Webhook['enabledAt'];
  /** The time of the receiver's last acceptance. */
  readonly acceptedAt: number | undefined;
};

/** The delivery after an attempt. */
export const settle = (delivery: Delivery, attempt: Attempt): Settled => {
  const { outcome, at, firstPauseMs, enabledAt, acceptedAt = 0 } = attempt;
  if (isAccepted(outcome)) return { state: 'delivered' };
  const attempts = delivery.attempts + 1;
  const firstAttemptAt = delivery.firstAttemptAt ?? at;
  const { lastStatus: _status, lastError: _error, ...rest } = delivery;
  const next: Delivery = {
    ...rest,
    attempts,
    firstAttemptAt,
    lastAttemptAt: at,
    nextAt: at + pauseAfter(attempts, firstPauseMs),
    ...(outcome.status === undefined ? {} : { lastStatus: outcome.status }),
    ...(outcome.error === undefined ? {} : { lastError: outcome.error }),
  };
  if (at - Math.max(firstAttemptAt, enabledAt) < retryForMs) return { state: 'waiting', next };
  return { state: acceptedAt > firstAttemptAt ? 'failed' : 'exhausted', next };
};

export const rowOf = (delivery: Delivery, state: DeliveryState): DeliveryRow => {
  const { body: _body, webhook: _webhook, firstAttemptAt: _first, nextAt, ...row } = delivery;
  return { ...row, state, ...(state === 'waiting' ? { nextAt } : {}) };
};

/** Its row in the list after an attempt. */
export const rowAfter = (delivery: Delivery, settled: Settled, attempt: Attempt): DeliveryRow => {
  if (settled.state === 'delivered') return deliveredRow(delivery, attempt);
  return rowOf(settled.next, settled.state === 'failed' ? 'failed' : 'waiting');
};

const deliveredRow = (delivery: Delivery, { outcome, at }: Pick<Attempt, 'outcome' | 'at'>): DeliveryRow => {
  const { lastError: _, ...row } = rowOf(delivery, 'delivered');
  return {
    ...row,
    attempts: delivery.attempts + 1,
    lastAttemptAt: at,
    ...(outcome.status === undefined ? {} : { lastStatus: outcome.status }),
  };
};
