/** What the check is invoked with, by the rules of EventBridge: which one, and the address where users meet the platform. */
import * as z from 'zod';

export const syntheticTask = z.object({
  check: z.enum(['turn', 'sandbox']),
  url: z.url({ protocol: /^https?$/ }),
});

export type SyntheticTask = z.output<typeof syntheticTask>;
