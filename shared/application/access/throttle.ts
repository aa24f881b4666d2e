/** Refuses a token with too many requests: several that come as one are counted together, or not at all. */

import { countedAs, type Principal } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';

export const throttle = async (
  { rateLimiter, world }: Deps<'rateLimiter' | 'world'>,
  principal: Pick<Principal, 'client' | 'tokenHash'>,
  requests = 1,
): Promise<void> => {
  if (await rateLimiter.take(countedAs(principal), world.now(), requests)) return;
  throw new AppError('rate_limited', 'too many requests with this token', {
    suggestions: ['Try again in a second.'],
    recoveryActions: ['wait_and_retry'],
  });
};
