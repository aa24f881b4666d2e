/** The input of the check from the rules of EventBridge: its kind, and the public address of the platform. */
import * as z from 'zod';

export const syntheticTask = z.object({
  check: z.enum(['turn', 'sandbox']),
  url: z.url({ protocol: /^https?$/ }),
});

export type SyntheticTask = z.output<typeof syntheticTask>;
