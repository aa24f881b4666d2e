/** Rate of requests from callers who are not known yet: counted by their address. */
import type { Deps } from '#shared/application/deps.ts';
import { AppError } from '#shared/errors.ts';
import type { ApiEvent } from './api-route.ts';

export const throttleAddress = async (
  { rateLimiter, world }: Deps<'rateLimiter' | 'world'>,
  { requestContext }: ApiEvent,
): Promise<void> => {
  const key = `auth ${requestContext.identity?.sourceIp ?? ''}`;
  if (await rateLimiter.take(key, world.now())) return;
  throw new AppError('rate_limited', 'too many requests from this address', {
    suggestions: ['Try again in a second.'],
    recoveryActions: ['wait_and_retry'],
  });
};
