/**
 * The tasks of the schedules function: from the scheduler, from a function that changed a schedule, or from the
 * sweep's rule.
 */
import * as z from 'zod';
import { isUuid } from '#shared/domain/ids.ts';
import type { ScheduleId } from '#shared/domain/schedule/schedule.ts';

const correlationId = z.string().exactOptional();

export const scheduleTask = z.union([
  z.object({ sweep: z.literal('schedules'), correlationId }),
  z.object({
    scheduleId: z.custom<ScheduleId>((value) => typeof value === 'string' && isUuid(value)),
    /** The run for which the scheduler invokes. */
    runAt: z.number().int().min(0).exactOptional(),
    correlationId,
  }),
]);
