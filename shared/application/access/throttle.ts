/** Refuses a token with too many requests. */

import type { Principal } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';

export const throttle = async (
  { rateLimiter, world }: Deps<'rateLimiter' | 'world'>,
  { tokenHash }: Pick<Principal, 'tokenHash'>,
): Promise<void> => {
  if (await rateLimiter.take(tokenHash, world.now())) return;
  throw new AppError('rate_limited', 'too many requests with this token', {
    suggestions: ['Try again in a second.'],
    recoveryActions: ['wait_and_retry'],
  });
};
