/** What the link function is told: one request to one sandbox. */
import * as z from 'zod';

export const linkCall = z.object({
  /** `http://<private address>:<port>`. */
  address: z.url({ protocol: /^http$/ }),
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS']),
  path: z.string().startsWith('/').max(8192),
  headers: z.record(z.string(), z.string()),
  body: z.string().exactOptional(),
  correlationId: z.string().exactOptional(),
});

export type LinkCall = z.output<typeof linkCall>;
