/** The tasks of the sender of webhooks: after a commit, from the API, or from the sweep's rule. */
import * as z from 'zod';
import { isUuid } from '#shared/domain/ids.ts';
import { sweptMax } from '#shared/domain/webhook/limits.ts';
import type { WebhookId } from '#shared/domain/webhook/webhook.ts';

const correlationId = z.string().exactOptional();
const webhookId = z.custom<WebhookId>((value) => typeof value === 'string' && isUuid(value));

export const webhookTask = z.union([
  z.object({
    sweep: z.literal('webhooks'),
    /** The public address of the deployment. */
    url: z.url().exactOptional(),
    correlationId,
  }),
  z.object({ notices: z.array(z.string().min(1)).max(sweptMax), correlationId }),
  z.object({ webhook: webhookId, correlationId }),
  /** Answered synchronously, while a person waits. */
  z.object({ test: webhookId, correlationId }),
]);

export const testResult = z.object({
  ok: z.boolean(),
  status: z.number().int().optional(),
  durationMs: z.number().int(),
  error: z.string().optional(),
});
