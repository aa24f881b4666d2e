/** Refuses a token with too many requests: several that come as one are counted together, or not at all. */

import { countedAs, type Principal } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';

type Counted = Pick<Principal, 'client' | 'tokenHash'>;

export const throttle = (
  ports: Deps<'rateLimiter' | 'world'>,
  principal: Counted,
  requests = 1,
): Promise<void> => take(ports, countedAs(principal), { requests, by: 'with this token' });

/** All links of a token together: a holder of one takes nothing from the rate of the token itself. */
export const throttleLinks = (ports: Deps<'rateLimiter' | 'world'>, maker: Counted): Promise<void> =>
  take(ports, `links ${countedAs(maker)}`, { requests: 1, by: 'by the links of this token' });

type Requests = { readonly requests: number; readonly by: string };

const take = async (
  { rateLimiter, world }: Deps<'rateLimiter' | 'world'>,
  key: string,
  { requests, by }: Requests,
): Promise<void> => {
  if (await rateLimiter.take(key, world.now(), requests)) return;
  throw new AppError('rate_limited', `too many requests ${by}`, {
    suggestions: ['Try again in a second.'],
    recoveryActions: ['wait_and_retry'],
  });
};
