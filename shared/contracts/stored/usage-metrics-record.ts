/** A point of the operator's usage metrics as the table holds it, decoded on its way in. */
import * as z from 'zod';
import { count, epochMs } from './fields.ts';

/** Numbers by measurement (`domain/usage-metrics.ts`). */
export const usageCountsRecord = z.object({ at: epochMs, ttl: count }).catchall(z.number());
