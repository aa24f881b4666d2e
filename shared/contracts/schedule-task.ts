/** What the function of schedules is invoked with: by the scheduler, by whoever changed one, or by the sweep's rule. */
import * as z from 'zod';
import { isUuid } from '#shared/domain/ids.ts';
import type { ScheduleId } from '#shared/domain/schedule/schedule.ts';

const correlationId = z.string().exactOptional();

export const scheduleTask = z.union([
  z.object({ sweep: z.literal('schedules'), correlationId }),
  z.object({
    scheduleId: z.custom<ScheduleId>((value) => typeof value === 'string' && isUuid(value)),
    /** The run that the scheduler was asked to wake us for. */
    runAt: z.number().int().min(0).exactOptional(),
    correlationId,
  }),
]);
