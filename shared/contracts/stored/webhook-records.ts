/** Webhooks, notices and deliveries as the table holds them, decoded on their way in. */
import * as z from 'zod';
import type { CallId, OwnerId, ProjectId, SessionId, TurnId } from '#shared/domain/ids.ts';
import { type Delivery, type DeliveryRow, deliveryStates } from '#shared/domain/webhook/delivery-retry.ts';
import type { Notice } from '#shared/domain/webhook/notice.ts';
import { type Webhook, type WebhookId, webhookEvents } from '#shared/domain/webhook/webhook.ts';
import { onFirstUse } from '../on-first-use.ts';
import { count, epochMs, id } from './fields.ts';

const type = z.enum(webhookEvents);
const yes = z.literal(true);

export const webhookRecord = onFirstUse(
  (): z.ZodType<Webhook> =>
    z.object({
      id: id<WebhookId>(),
      project: id<ProjectId>().exactOptional(),
      owner: id<OwnerId>(),
      isPerson: yes.exactOptional(),
      url: z.string(),
      events: z.array(type),
      isEnabled: z.boolean(),
      disabledReason: z.string().exactOptional(),
      disabledAt: epochMs.exactOptional(),
      enabledAt: epochMs,
      createdAt: epochMs,
      updatedAt: epochMs,
      version: count,
    }),
);

export const noticeRecord = onFirstUse(
  (): z.ZodType<Notice> =>
    z.object({
      id: z.string().min(1),
      type,
      at: epochMs,
      data: z.object({
        sessionId: id<SessionId>().exactOptional(),
        title: z.string(),
        project: id<ProjectId>(),
        turnId: id<TurnId>().exactOptional(),
        callId: id<CallId>().exactOptional(),
        name: z.string().exactOptional(),
        code: z.string().exactOptional(),
        scheduleId: z.string().exactOptional(),
      }),
      webhooks: z.array(id<WebhookId>()),
    }),
);

const attempted = onFirstUse(() => ({
  id: z.string().min(1),
  type,
  at: epochMs,
  attempts: count,
  lastAttemptAt: epochMs.exactOptional(),
  lastStatus: z.number().int().exactOptional(),
  lastError: z.string().exactOptional(),
}));

export const deliveryRecord = onFirstUse(
  (): z.ZodType<Delivery> =>
    z.object({
      ...attempted(),
      webhook: id<WebhookId>(),
      body: z.string(),
      nextAt: epochMs,
      firstAttemptAt: epochMs.exactOptional(),
    }),
);

export const deliveryRowRecord = onFirstUse(
  (): z.ZodType<DeliveryRow> =>
    z.object({
      ...attempted(),
      state: z.enum(deliveryStates),
      nextAt: epochMs.exactOptional(),
    }),
);
