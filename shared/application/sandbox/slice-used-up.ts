/**
 * The refusal where a slice has nothing left, with a line for the operator: the dashboard counts those by what was used up. No slice of
 * money or tokens is among them, whose turns end with `budget_exceeded`.
 */
import type { SessionId } from '../../domain/ids.ts';
import type { CountedMeasure } from '../../domain/tree-slice.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';

type UsedUp = {
  readonly measure: CountedMeasure | 'toolCalls';
  readonly sessionId: SessionId;
  readonly message: string;
  readonly suggestions?: readonly string[];
};

export const sliceUsedUp = (
  { telemetry }: Deps<'telemetry'>,
  { measure, sessionId, message, ...options }: UsedUp,
): AppError => {
  telemetry.info('a slice has nothing left', { event: 'slice_used_up', measure, sessionId });
  return new AppError('resource_limit_exceeded', message, options);
};
