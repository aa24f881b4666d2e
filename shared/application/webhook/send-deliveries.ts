/**
 * Sends the deliveries of one webhook, under its lease: rounds of attempts, pauses short enough to wait for, and
 * at the end a time for the next sweep.
 *
 * A sender that dies loses nothing: a delivery waits until an attempt at it was recorded (WH2), and the lease
 * names a time at which the sweep takes over.
 */

import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import {
  type Delivery,
  isAccepted,
  isExpired,
  isGone,
  type Outcome,
  rowAfter,
  rowOf,
  type Settled,
  settle,
} from '../../domain/webhook/delivery-retry.ts';
import {
  attemptsAtOnceMax,
  deliveriesWaitingMax,
  senderLeaseMs,
  senderLookMs,
  senderWaitMsMax,
} from '../../domain/webhook/limits.ts';
import type { Webhook, WebhookId } from '../../domain/webhook/webhook.ts';
import type { DeliveryQueue, SenderLease } from '../../ports/webhooks.ts';
import { audit } from '../access/audit.ts';
import type { AuditDeps, Deps, SenderDeps } from '../deps.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';

export type SenderRun = {
  /** No attempt begins after it. */
  readonly until: number;
  /** The pause before the second attempt, in milliseconds. */
  readonly firstPauseMs: number;
};

type Holding = {
  readonly lease: SenderLease;
  readonly acceptedAt: number | undefined;
  readonly isCounted: boolean;
};

export const sendDeliveries = async (ports: SenderDeps, id: WebhookId, run: SenderRun): Promise<void> => {
  const { deliveries, world } = ports;
  const at = world.now();
  const lease = await deliveries.takeLease(id, { at, until: at + senderLeaseMs });
  let holding: Holding | undefined = lease && { lease, acceptedAt: lease.acceptedAt, isCounted: false };
  while (holding !== undefined) holding = await goOn(ports, holding, run);
};

/** One round, one pause, or the end: then the lease is released. */
const goOn = async (ports: SenderDeps, holding: Holding, run: SenderRun): Promise<Holding | undefined> => {
  const { webhook: id } = holding.lease;
  const webhook = await ports.webhooks.get(id);
  if (webhook === undefined) {
    await ports.deliveries.clear(id);
    return undefined;
  }
  const waiting = webhook.isEnabled ? await ports.deliveries.waiting(id, attemptsAtOnceMax) : [];
  const now = ports.world.now();
  const due = waiting.filter(({ nextAt }) => nextAt <= now);
  const hasTime = now < run.until;
  const expired = waiting.filter((delivery) => isExpired(delivery, now));
  if (expired.length > 0 && hasTime) return giveUp(ports, holding, expired);
  if (due.length > 0 && hasTime) return sendRound(ports, { holding, webhook, due }, run);
  const nextAt = due.length > 0 ? now : waiting[0]?.nextAt;
  if (nextAt !== undefined && hasTime && nextAt < run.until && nextAt - now <= senderWaitMsMax)
    return pause(ports, holding, nextAt);
  return letGo(ports, holding, nextAt);
};

const giveUp = async (
  { deliveries, telemetry, world }: SenderDeps,
  holding: Holding,
  expired: readonly Delivery[],
): Promise<Holding | undefined> => {
  const { webhook: webhookId } = holding.lease;
  await Promise.all(
    expired.map((delivery) =>
      deliveries.settle(delivery, { state: 'failed', next: delivery }, rowOf(delivery, 'failed')),
    ),
  );
  telemetry.warn('deliveries expired', {
    event: 'webhook_delivery_given_up',
    webhookId,
    reason: 'their retention is over',
    notices: expired.map(({ id }) => id),
  });
  return renew(deliveries, holding, world.now());
};

const letGo = async (
  { deliveries, world }: SenderDeps,
  holding: Holding,
  dueAt: number | undefined,
): Promise<Holding | undefined> => {
  const { lease, acceptedAt } = holding;
  if ((await deliveries.releaseLease(lease, { dueAt, acceptedAt })) !== 'kept') return undefined;
  return renew(deliveries, holding, world.now());
};

/** Undefined when it was lost: another sender goes on. Records the last acceptance, also for a sender that follows one that died. */
const renew = async (
  deliveries: DeliveryQueue,
  holding: Holding,
  now: number,
): Promise<Holding | undefined> => {
  const { acceptedAt } = holding;
  const held = { ...holding.lease, ...(acceptedAt === undefined ? {} : { acceptedAt }) };
  const lease = await deliveries.renewLease(held, now + senderLeaseMs);
  return lease && { ...holding, lease };
};

/** Waits until the given time, or until there is something new. */
const pause = async (
  { deliveries, world }: SenderDeps,
  holding: Holding,
  nextAt: number,
): Promise<Holding | undefined> => {
  let current: Holding | undefined = holding;
  for (let now = world.now(); now < nextAt && current !== undefined; now = world.now()) {
    if (current.lease.wakes !== holding.lease.wakes) return current;
    await world.sleep(Math.min(senderLookMs, nextAt - now));
    current = await renew(deliveries, current, world.now());
  }
  return current;
};

type Round = {
  readonly holding: Holding;
  readonly webhook: Webhook;
  readonly due: readonly Delivery[];
};

type Attempted = { readonly outcome: Outcome; readonly settled: Settled };

const sendRound = async (
  ports: SenderDeps,
  { holding, webhook, due }: Round,
  run: SenderRun,
): Promise<Holding | undefined> => {
  const { deliveries, world } = ports;
  const held = await renew(deliveries, holding, world.now());
  if (held === undefined) return undefined;
  const secret = await deliveries.secretOf(webhook.id);
  if (secret === undefined) return withoutSecret(ports, held);
  const attempts = await Promise.all(
    due.map((delivery) => attempt(ports, { held, webhook, delivery, secret }, run)),
  );
  const hasAccepted = attempts.some(({ outcome }) => isAccepted(outcome));
  const reason =
    reasonToDisable(attempts, hasAccepted) ?? (await fullReason(ports, { held, due, hasAccepted }));
  if (reason !== undefined) await disableWebhook(ports, webhook, reason);
  return {
    ...held,
    acceptedAt: hasAccepted ? world.now() : held.acceptedAt,
    isCounted: held.isCounted || !hasAccepted,
  };
};

/** A webhook that was deleted concurrently has no secret; its remaining items are cleared next. */
const withoutSecret = async ({ webhooks }: SenderDeps, held: Holding): Promise<Holding> => {
  const { webhook } = held.lease;
  if ((await webhooks.get(webhook)) === undefined) return held;
  throw new Error(`webhook ${webhook} has no secret`);
};

/** An acceptance in the same round counts, whichever of its attempts ended first. */
const reasonToDisable = (attempts: readonly Attempted[], hasAccepted: boolean): string | undefined => {
  if (attempts.some(({ outcome }) => isGone(outcome)))
    return 'it answered with HTTP 410: it no longer exists';
  if (hasAccepted) return undefined;
  const exhausted = attempts.find(({ settled }) => settled.state === 'exhausted');
  return exhausted && `it accepted nothing for a day: ${exhausted.outcome.error}`;
};

/** Counted once in a run, when more may wait than a round holds and none of it was accepted. */
const fullReason = async (
  { deliveries }: SenderDeps,
  {
    held,
    due,
    hasAccepted,
  }: { readonly held: Holding; readonly due: Round['due']; readonly hasAccepted: boolean },
): Promise<string | undefined> => {
  if (held.isCounted || hasAccepted || due.length < attemptsAtOnceMax) return undefined;
  const waiting = await deliveries.countWaiting(held.lease.webhook, deliveriesWaitingMax + 1);
  return waiting > deliveriesWaitingMax
    ? `more than ${deliveriesWaitingMax} deliveries wait for it`
    : undefined;
};

type Trying = {
  readonly held: Holding;
  readonly webhook: Webhook;
  readonly delivery: Delivery;
  readonly secret: string;
};

const attempt = async (
  { deliveries, post, world, telemetry }: SenderDeps,
  { held, webhook, delivery, secret }: Trying,
  { firstPauseMs }: SenderRun,
): Promise<Attempted> => {
  const began = world.now();
  const { id, body, type } = delivery;
  const answer = await post.send({ url: webhook.url, secret, id, at: began, body });
  const at = world.now();
  const outcome: Outcome = { ...answer, durationMs: at - began };
  const { enabledAt } = webhook;
  const met = { outcome, at, firstPauseMs, enabledAt, acceptedAt: held.acceptedAt };
  const settled = settle(delivery, met);
  await deliveries.settle(delivery, settled, rowAfter(delivery, settled, met));
  telemetry.duration('WebhookAttemptMs', outcome.durationMs);
  const about = { webhookId: webhook.id, notice: id, type, status: outcome.status, error: outcome.error };
  if (isAccepted(outcome))
    telemetry.info('a delivery was accepted', { event: 'webhook_delivered', ...about });
  else {
    telemetry.count('WebhookAttemptsFailed');
    const event = settled.state === 'failed' ? 'webhook_delivery_given_up' : 'webhook_attempt_failed';
    telemetry.warn('a delivery was not accepted', { event, ...about, attempts: delivery.attempts + 1 });
  }
  return { outcome, settled };
};

/** The principal of the platform itself, without a request. */
const sender: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'webhooks' };

/** Recorded in its view, in the audit log and in a metric. With the address and the day of the attempts that failed: one that was given another since is judged by its own. */
const disableWebhook = async (
  ports: AuditDeps & Deps<'webhooks'>,
  { id, url, enabledAt }: Pick<Webhook, 'id' | 'url' | 'enabledAt'>,
  disabledReason: string,
): Promise<void> => {
  const { webhooks, world, telemetry } = ports;
  await untilWon(async () => {
    const webhook = await webhooks.get(id);
    if (webhook === undefined || !webhook.isEnabled) return undefined;
    if (webhook.url !== url || webhook.enabledAt !== enabledAt) return undefined;
    const at = world.now();
    const next = { ...webhook, isEnabled: false, disabledReason, disabledAt: at, updatedAt: at };
    if ((await webhooks.replace(next)) === undefined) return raceLost;
    telemetry.count('WebhooksDisabled');
    telemetry.error('a webhook was disabled', {
      event: 'webhook_disabled',
      webhookId: id,
      project: webhook.project,
      reason: disabledReason,
    });
    await audit(ports, sender, {
      action: 'webhook.disable',
      subject: id,
      project: webhook.project,
      detail: { reason: disabledReason },
    });
    return undefined;
  }, changesTooOften('the webhook'));
};
