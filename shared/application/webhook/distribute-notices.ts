/**
 * Makes the deliveries of notices: one for each webhook that selects the notice, all in one write, once. The same write makes
 * those webhooks due, so that the sweep sends the deliveries if this process dies (WH9).
 */

import { bodyOf } from '../../contracts/webhook-body.ts';
import type { Delivery } from '../../domain/webhook/delivery-retry.ts';
import type { WebhookId } from '../../domain/webhook/webhook.ts';
import type { Deps } from '../deps.ts';

export type Spreading = {
  readonly notices: readonly string[];
  /** The public address of the deployment, as its operator set it; absent: the one that the sweep recorded. */
  readonly publicUrl: string | undefined;
};

export type Spread = {
  /** The webhooks with new deliveries. */
  readonly heard: ReadonlySet<WebhookId>;
  /** The number of notices that were not spread: the sweep retries them. */
  readonly failed: number;
};

/** One failure stops no other notice. Notices without a known public address are left to the sweep. */
export const distributeNotices = async (
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
