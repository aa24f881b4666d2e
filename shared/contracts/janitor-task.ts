/** What the janitor is invoked with: by the rules of EventBridge, and by whoever has marked a sandbox. */
import * as z from 'zod';
import type { WorkspaceId } from '#shared/domain/ids.ts';

const correlationId = z.string().exactOptional();

export const janitorTask = z.discriminatedUnion('sweep', [
  z.object({ sweep: z.literal('due'), correlationId }),
  z.object({ sweep: z.literal('places'), correlationId }),
  z.object({ sweep: z.literal('orphans'), correlationId }),
  z.object({ sweep: z.literal('pool'), correlationId }),
  z.object({
    sweep: z.literal('stop'),
    workspaceId: z.custom<WorkspaceId>((value) => typeof value === 'string' && value !== ''),
    correlationId,
  }),
]);

export type JanitorTask = z.output<typeof janitorTask>;
