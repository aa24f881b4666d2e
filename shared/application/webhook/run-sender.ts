/**
 * Runs a task of the sender: spreads notices, sends the deliveries of all webhooks concurrently, so that none waits for
 * another's receiver (WH8), and sends a test. One failure ends no sweep.
 */

import { bodyOf, testBody } from '../../contracts/webhook-body.ts';
import { type Delivery, isAccepted } from '../../domain/webhook/delivery-retry.ts';
import { sweptMax } from '../../domain/webhook/limits.ts';
import type { WebhookId } from '../../domain/webhook/webhook.ts';
import { AppError } from '../../errors.ts';
import type { Deps, SenderDeps } from '../deps.ts';
import { type SenderRun, sendDeliveries } from './send-deliveries.ts';

export type SenderWork = SenderRun & {
  readonly notices: readonly string[];
  readonly webhooks: readonly WebhookId[];
  readonly publicUrl: string | undefined;
};

/** `failed`: notices that were not spread, and webhooks that were not sent to. The sweep finds all of them (WH9). */
export type SenderReport = { readonly webhooks: number; readonly failed: number };

export const runSender = async (ports: SenderDeps, work: SenderWork): Promise<SenderReport> => {
  const { heard, failed } = await distributeNotices(ports, work);
  const all = [...new Set([...heard, ...work.webhooks])];
  const results = await Promise.allSettled(all.map((id) => sendDeliveries(ports, id, work)));
  const failures = results.filter((result) => result.status === 'rejected');
  for (const { reason: error } of failures)
    ports.telemetry.error('deliveries of a webhook were not sent', { error });
  return { webhooks: all.length, failed: failed + failures.length };
};

/**
 * Unsent work: notices whose sender was lost, retries that are due, webhooks whose sender died. All notices are spread before
 * anything is sent, or as many as the time of the run allows.
 */
export const sweepWebhooks = async (
  ports: SenderDeps,
  { url, ...run }: SenderRun & { readonly publicUrl: string | undefined; readonly url: string | undefined },
): Promise<SenderReport> => {
  const { deliveries, world } = ports;
  if (url !== undefined && url !== (await deliveries.publicUrl())) await deliveries.keepPublicUrl(url);
  const due = new Set<WebhookId>();
  let unspread = 0;
  for await (const { notices, webhooks } of deliveries.due(world.now(), sweptMax)) {
    const { heard, failed } = await distributeNotices(ports, { ...run, notices });
    unspread += failed;
    for (const id of [...heard, ...webhooks]) due.add(id);
    if (world.now() >= run.until) break;
  }
  const { webhooks, failed } = await runSender(ports, { ...run, notices: [], webhooks: [...due] });
  return { webhooks, failed: unspread + failed };
};

export type TestResult = {
  readonly ok: boolean;
  readonly status?: number;
  readonly durationMs: number;
  readonly error?: string;
};

/** Once, and now: nothing is queued and nothing is retried. A disabled webhook is tested, too. */
export const sendTest = async (
  { webhooks, deliveries, post, world }: SenderDeps,
  id: WebhookId,
  publicUrl: string | undefined,
): Promise<TestResult> => {
  const webhook = await webhooks.get(id);
  const secret = await deliveries.secretOf(id);
  if (webhook === undefined || secret === undefined)
    throw new AppError('not_found', 'there is no such webhook');
  const at = world.now();
  const appUrl = publicUrl ?? (await deliveries.publicUrl()) ?? '';
  const body = testBody({ at, project: webhook.project }, appUrl);
  const messageId = `msg_${world.uuid().replaceAll('-', '')}`;
  const answer = await post.send({ url: webhook.url, secret, id: messageId, at, body });
  const durationMs = world.now() - at;
  return { ok: isAccepted({ ...answer, durationMs }), ...answer, durationMs };
};

type Spreading = {
  readonly notices: readonly string[];
  /** The public address of the deployment, as its operator set it; absent: the one that the sweep recorded. */
  readonly publicUrl: string | undefined;
};

type Spread = {
  /** The webhooks with new deliveries. */
  readonly heard: ReadonlySet<WebhookId>;
  /** The number of notices that were not spread: the sweep retries them. */
  readonly failed: number;
};

/**
 * Each notice becomes one delivery to each webhook that selects it, all in one write, once. The same write makes those webhooks due, so
 * that the sweep sends the deliveries if this process dies (WH9). One failure stops no other notice. Notices without a known public
 * address are left to the sweep.
 */
const distributeNotices = async (
  ports: Deps<'deliveries' | 'telemetry'>,
  { notices, publicUrl }: Spreading,
): Promise<Spread> => {
  const { deliveries, telemetry } = ports;
  const heard = new Set<WebhookId>();
  let failed = 0;
  if (notices.length === 0) return { heard, failed };
  const url = publicUrl ?? (await deliveries.publicUrl());
  if (url === undefined) {
    telemetry.warn('notices wait until the address of the deployment is known', { notices });
    return { heard, failed };
  }
  for (const notice of notices) {
    try {
      for (const webhook of await spread(ports, notice, url)) heard.add(webhook);
    } catch (error) {
      failed += 1;
      telemetry.error('a notice was not spread', { error, notice });
    }
  }
  return { heard, failed };
};

const spread = async (
  { deliveries }: Deps<'deliveries' | 'telemetry'>,
  id: string,
  publicUrl: string,
): Promise<readonly WebhookId[]> => {
  const notice = await deliveries.notice(id);
  if (notice === undefined) return [];
  const { type, at } = notice;
  const body = bodyOf(notice, publicUrl);
  const made = notice.webhooks.map(
    (webhook): Delivery => ({ webhook, id, type, at, body, attempts: 0, nextAt: at }),
  );
  // The first sender goes on to send; a second one finds the lease held.
  return (await deliveries.spread(notice, made)) ? notice.webhooks : [];
};
