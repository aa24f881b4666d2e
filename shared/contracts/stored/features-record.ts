/** The features that a deployment uses, as the table holds them; a deployment that uses none has no record. */
import * as z from 'zod';

export const featuresRecord = z.object({
  webhooks: z.boolean().default(false),
  mcpServers: z.boolean().default(false),
  /** The time at which an approver's socket was opened and none was known to be open, in epoch milliseconds. */
  approversSince: z.number().default(0),
  approversUntil: z.number().default(0),
});
