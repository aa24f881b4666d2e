/** Refuses a token with too many requests. */
import type { Principal } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';
import type { RateLimiter } from '../../ports/rate-limiter.ts';
import type { World } from '../../ports/world.ts';

export const throttle = async (
  { rateLimiter, world }: { readonly rateLimiter: RateLimiter; readonly world: World },
  { tokenHash }: Pick<Principal, 'tokenHash'>,
): Promise<void> => {
  if (await rateLimiter.take(tokenHash, world.now())) return;
  throw new AppError('rate_limited', 'too many requests with this token', {
    suggestions: ['Try again in a second.'],
    recoveryActions: ['wait_and_retry'],
  });
};
