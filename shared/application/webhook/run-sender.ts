/**
 * Runs a task of the sender: spreads notices, sends the deliveries of all webhooks concurrently, so that none waits for
 * another's receiver (WH8), and sends a test. One failure ends no sweep.
 */

import { testBody } from '../../contracts/webhook-body.ts';
import { isAccepted } from '../../domain/webhook/delivery-retry.ts';
import { sweptMax } from '../../domain/webhook/limits.ts';
import type { WebhookId } from '../../domain/webhook/webhook.ts';
import { AppError } from '../../errors.ts';
import type { SenderDeps } from '../deps.ts';
import { distributeNotices } from './distribute-notices.ts';
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
