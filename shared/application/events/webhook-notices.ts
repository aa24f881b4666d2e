/**
 * Selects the webhooks that hear of an event, before the event is written, so that the notice goes in the same write (WH1).
 *
 * Without an event nothing is read; without a webhook that hears of it nothing is written.
 */
import type { Notice, Occurrence } from '../../domain/webhook/notice.ts';
import { hears, type Webhook } from '../../domain/webhook/webhook.ts';
import type { NoticeSender } from '../../ports/invoker.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { WebhookStore } from '../../ports/webhook-store.ts';
import type { World } from '../../ports/world.ts';

export type NoticePorts = {
  readonly webhooks: Pick<WebhookStore, 'list'>;
  readonly world: Pick<World, 'sha256'>;
};

/** Enough of a hash that no two events share an id. */
const idCharacters = 32;

export const noticesOf = async (
  { webhooks, world }: NoticePorts,
  occurrences: readonly Occurrence[],
  at: number,
): Promise<readonly Notice[]> => {
  if (occurrences.length === 0) return [];
  const { webhooks: all } = await webhooks.list();
  return occurrences.flatMap((one) => noticeOf(world, one, { at, all }));
};

type Moment = { readonly at: number; readonly all: readonly Webhook[] };

const noticeOf = (
  { sha256 }: NoticePorts['world'],
  occurrence: Occurrence,
  { at, all }: Moment,
): readonly Notice[] => {
  const webhooks = all.filter((webhook) => hears(webhook, occurrence)).map(({ id }) => id);
  if (webhooks.length === 0) return [];
  const { key, type, data } = occurrence;
  return [{ id: `msg_${sha256(key).slice(0, idCharacters)}`, type, at, data, webhooks }];
};

/** To write notices with the event that they report, and to have them sent. */
export type WebhookPorts = NoticePorts & SendPorts;

export type SendPorts = {
  readonly noticeSender: NoticeSender;
  readonly telemetry: Pick<Telemetry, 'warn'>;
};

/** Once they are written. A sender that could not be invoked costs a minute: the sweep finds them. */
export const sendNotices = async (
  { noticeSender, telemetry }: SendPorts,
  notices: readonly Notice[],
): Promise<void> => {
  if (notices.length === 0) return;
  const ids = notices.map(({ id }) => id);
  try {
    await noticeSender.sendNotices(ids);
  } catch (error) {
    telemetry.warn('notices wait for the sweep', { error, notices: ids });
  }
};
