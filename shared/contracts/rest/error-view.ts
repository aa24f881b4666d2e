/** The body of every refusal and failure; shared/errors.ts builds its contents. */
import * as z from 'zod';

export const errorAnswer = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      suggestions: z.array(z.string()),
      recoveryActions: z.array(z.string()),
      requestId: z.string().describe('As in the header x-request-id.'),
      oldestIndex: z.number().int().optional().describe('Of `events_purged`: the oldest that is left.'),
      maxSessions: z
        .number()
        .int()
        .optional()
        .describe('Of `resource_limit_exceeded`: how many there may be.'),
    }),
  })
  .meta({ id: 'Error' });
