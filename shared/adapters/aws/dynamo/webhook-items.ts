/**
 * Webhooks, notices and deliveries as items. A notice, and a webhook with something to send, is in the `due`
 * index; a delivery is not, so that a receiver that is down for long does not fill that index.
 */
import { decodeStored } from '#shared/contracts/decode.ts';
import {
  deliveryRecord,
  deliveryRowRecord,
  noticeRecord,
  webhookRecord,
} from '#shared/contracts/stored/webhook-records.ts';
import type { Delivery, DeliveryRow } from '#shared/domain/webhook/delivery-retry.ts';
import { deliveryKeptMs, noticeGraceMs } from '#shared/domain/webhook/limits.ts';
import type { Notice } from '#shared/domain/webhook/notice.ts';
import type { Webhook, WebhookId } from '#shared/domain/webhook/webhook.ts';
import { dueValues, type Item, keys } from './table.ts';

/** The time at which a row of an event is removed, in epoch seconds. */
const ttlOf = (at: number): number => Math.ceil((at + deliveryKeptMs) / 1000);

/** The values of `duePk` and `dueAt` of a webhook that has something to send. */
export const senderDue = (webhook: WebhookId, dueAt: number) => dueValues('delivery', webhook, dueAt);

export const webhookItem = (webhook: Webhook): Item => ({ ...keys.webhook(webhook.id), ...webhook });
export const webhookFrom = (item: Item): Webhook => decodeStored(webhookRecord, item);

export const noticeItem = (notice: Notice): Item => {
  const { id, at } = notice;
  const due = dueValues('delivery', id, at + noticeGraceMs);
  return { ...keys.notice(id), ...notice, duePk: due[':duePk'], dueAt: due[':dueAt'], ttl: ttlOf(at) };
};
export const noticeFrom = (item: Item): Notice => decodeStored(noticeRecord, item);

/** The notice as an action of the transaction that writes its event (WH1). */
export const noticePut = (TableName: string, notice: Notice) => ({
  Put: { TableName, Item: { ...noticeItem(notice) } },
});

export const waitingItem = (delivery: Delivery): Item => {
  const { webhook, nextAt, id, at } = delivery;
  return { ...keys.pendingDelivery(webhook, nextAt, id), ...delivery, ttl: ttlOf(at) };
};
export const deliveryFrom = (item: Item): Delivery => decodeStored(deliveryRecord, item);

export const rowItem = (webhook: WebhookId, row: DeliveryRow): Item => ({
  ...keys.delivery(webhook, row.at, row.id),
  ...row,
  ttl: ttlOf(row.at),
});
export const rowFrom = (item: Item): DeliveryRow => decodeStored(deliveryRowRecord, item);
