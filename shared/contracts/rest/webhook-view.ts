/** A webhook and its deliveries as REST shows them: never its secret, except in the answer that created it. */
import * as z from 'zod';
import { type DeliveryRow, deliveryStates } from '#shared/domain/webhook/delivery-retry.ts';
import { type Webhook, webhookEvents } from '#shared/domain/webhook/webhook.ts';
import { iso } from '../fields.ts';

const time = z.iso.datetime();

export const webhookAnswer = z
  .object({
    id: z.uuid(),
    url: z.string(),
    events: z.array(z.enum(webhookEvents)),
    project: z.uuid().optional().describe('Id of the project whose events are sent; absent: every project.'),
    enabled: z.boolean(),
    disabledAt: time.optional().describe('Time at which the platform disabled the webhook.'),
    disabledReason: z.string().optional().describe('Reason why the platform disabled the webhook.'),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Webhook' });
export const webhooksAnswer = z.object({ webhooks: z.array(webhookAnswer) });

export const newWebhookAnswer = webhookAnswer.extend({
  secret: z
    .string()
    .describe('Key of the signatures: `whsec_` and the base64 of 32 bytes. Only this answer shows it.'),
});

export const webhookTestAnswer = z
  .object({
    ok: z.boolean().describe('True: the receiver answered with a status from 200 to 299.'),
    status: z.number().int().optional().describe('Status of the answer; absent: there was no answer.'),
    durationMs: z.number().int(),
    error: z.string().optional().describe('Reason why the test failed.'),
  })
  .meta({ id: 'WebhookTest' });

export const deliveryAnswer = z
  .object({
    id: z.string().describe('Value of the header `webhook-id`, the same at every attempt.'),
    type: z.enum(webhookEvents),
    state: z.enum(deliveryStates),
    attempts: z.number().int(),
    createdAt: time,
    lastAttemptAt: time.optional(),
    nextAttemptAt: time.optional().describe('Time of the next attempt; only while the delivery is pending.'),
    lastStatus: z.number().int().optional().describe('Status of the last answer; absent: there was none.'),
    lastError: z.string().optional().describe('Reason why the last attempt failed.'),
  })
  .meta({ id: 'WebhookDelivery' });
export const deliveriesAnswer = z.object({
  deliveries: z.array(deliveryAnswer),
  next: z.string().optional(),
});

export const webhookView = ({
  id,
  url,
  events,
  project,
  isEnabled,
  disabledAt,
  disabledReason,
  createdAt,
  updatedAt,
}: Webhook): z.output<typeof webhookAnswer> => ({
  id,
  url,
  events: [...events],
  ...(project === undefined ? {} : { project }),
  enabled: isEnabled,
  ...(disabledAt === undefined ? {} : { disabledAt: iso(disabledAt) }),
  ...(disabledReason === undefined ? {} : { disabledReason }),
  createdAt: iso(createdAt),
  updatedAt: iso(updatedAt),
});

export const deliveryView = ({
  id,
  type,
  state,
  attempts,
  at,
  lastAttemptAt,
  nextAt,
  lastStatus,
  lastError,
}: DeliveryRow): z.output<typeof deliveryAnswer> => ({
  id,
  type,
  state,
  attempts,
  createdAt: iso(at),
  ...(lastAttemptAt === undefined ? {} : { lastAttemptAt: iso(lastAttemptAt) }),
  ...(nextAt === undefined ? {} : { nextAttemptAt: iso(nextAt) }),
  ...(lastStatus === undefined ? {} : { lastStatus }),
  ...(lastError === undefined ? {} : { lastError }),
});
