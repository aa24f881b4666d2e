/** How long to wait before a model is asked again after a fault that may pass; undefined when it is final. */
import { isAppError } from '../../errors.ts';

const retriesMax = 3;
const firstWaitMs = 500;
/** A provider that asks for more patience than this is answered to the user instead. */
const waitMsMax = 20_000;
const passing: readonly string[] = ['provider_rate_limited', 'provider_overloaded', 'provider_unavailable'];

export const modelRetryMs = (error: unknown, attempt: number): number | undefined => {
  if (!isAppError(error) || !passing.includes(error.code) || attempt > retriesMax) return undefined;
  const seconds = Number(error.details.context?.['retryAfter']);
  const wanted = seconds >= 0 ? seconds * 1000 : firstWaitMs * 3 ** (attempt - 1);
  return wanted > waitMsMax ? undefined : wanted;
};
