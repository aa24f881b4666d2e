/**
 * Selects the webhooks that receive an event, before the event is written, so that the notice is part of the same write (WH1).
 *
 * If there is no event for webhooks, nothing is read. If no webhook receives it, nothing is written.
 */

import type { Notice, Occurrence } from '../../domain/webhook/notice.ts';
import { hears, type Webhook } from '../../domain/webhook/webhook.ts';
import type { Deps } from '../deps.ts';

/** Enough of a hash that no two events share an id. */
const idCharacters = 32;

export const noticesOf = async (
  { webhooks, world }: Deps<'webhooks' | 'world'>,
  occurrences: readonly Occurrence[],
  at: number,
): Promise<readonly Notice[]> => {
  if (occurrences.length === 0) return [];
  const { webhooks: all } = await webhooks.list();
  return occurrences.flatMap((one) => noticeOf(world, one, { at, all }));
};

type Moment = { readonly at: number; readonly all: readonly Webhook[] };

const noticeOf = (
  { sha256 }: Deps<'webhooks' | 'world'>['world'],
  occurrence: Occurrence,
  { at, all }: Moment,
): readonly Notice[] => {
  const webhooks = all.filter((webhook) => hears(webhook, occurrence)).map(({ id }) => id);
  if (webhooks.length === 0) return [];
  const { key, type, data } = occurrence;
  return [{ id: `msg_${sha256(key).slice(0, idCharacters)}`, type, at, data, webhooks }];
};

/** Once they are written. A sender that could not be invoked costs a minute: the sweep finds them. */
export const sendNotices = async (
  { noticeSender, telemetry }: Deps<'noticeSender' | 'telemetry'>,
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
