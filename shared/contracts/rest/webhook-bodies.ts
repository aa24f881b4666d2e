/** The bodies and queries of webhooks in REST. The address rules decide where a URL may lead. */

import * as z from 'zod';
import {
  deliveryRowsDefault,
  deliveryRowsMax,
  webhookUrlCharactersMax,
} from '#shared/domain/webhook/limits.ts';
import { webhookEvents } from '#shared/domain/webhook/webhook.ts';
import { afterPage, givenUuid } from '../fields.ts';

const url = z
  .string()
  .max(webhookUrlCharactersMax)
  .regex(/^https?:\/\/[^\s]+$/i, 'an http:// or https:// address without spaces')
  .describe('Public http:// or https:// address; the operator can allow private hosts.');
const events = z
  .array(z.enum(webhookEvents))
  .min(1)
  .max(webhookEvents.length)
  .refine((given) => new Set(given).size === given.length, 'each event once');

export const createWebhookBody = z.object({
  url,
  events,
  project: givenUuid
    .optional()
    .describe(
      "Id of the project whose events are sent; absent: the token's own project, or every project for a token of the deployment.",
    ),
  enabled: z.boolean().default(true),
});

/** Given fields replace the existing ones. */
export const changeWebhookBody = z.object({
  url: url.optional(),
  events: events.optional(),
  enabled: z.boolean().optional().describe('True: retry pending deliveries for another day.'),
});

export const webhooksQuery = z.object({
  project: givenUuid
    .optional()
    .describe('Id of the project whose webhooks are listed; absent: all that the token may read.'),
});

export const deliveriesQuery = z.object({
  limit: z.coerce.number().int().min(1).max(deliveryRowsMax).default(deliveryRowsDefault),
  after: afterPage,
});
