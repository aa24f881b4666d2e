/** The body of every refusal and failure; shared/errors.ts builds its contents. */
import * as z from 'zod';

export const errorAnswer = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      suggestions: z.array(z.string()),
      recoveryActions: z.array(z.string()),
      requestId: z.string().describe('Id of the request, as in the header x-request-id.'),
      oldestIndex: z
        .number()
        .int()
        .optional()
        .describe('Index of the oldest remaining event; for `events_purged`.'),
      maxSessions: z
        .number()
        .int()
        .optional()
        .describe('Largest number of sessions; for `resource_limit_exceeded`.'),
      port: z
        .number()
        .int()
        .optional()
        .describe('Port of a preview on which no server answers; for `sandbox_unavailable`.'),
    }),
  })
  .meta({ id: 'Error' });
