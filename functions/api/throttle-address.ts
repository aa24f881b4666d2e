/**
 * Rate of requests from callers who are not known yet, counted by their address.
 *
 * Behind CloudFront the gateway sees only CloudFront's server, which many people share; CloudFront's header has the address
 * that it saw. The header counts only if the gateway asks for CloudFront's key: any other client could choose its value.
 */
import type { Deps } from '#shared/application/deps.ts';
import { header } from '#shared/contracts/credentials.ts';
import { countedAddress } from '#shared/domain/ip-address.ts';
import { AppError } from '#shared/errors.ts';
import type { ApiEvent } from './api-route.ts';

export const throttleAddress = async (
  { rateLimiter, world }: Deps<'rateLimiter' | 'world'>,
  event: ApiEvent,
): Promise<void> => {
  const key = `auth ${addressOf(event)}`;
  if (await rateLimiter.take(key, world.now())) return;
  throw new AppError('rate_limited', 'too many requests from this address', {
    suggestions: ['Try again in a second.'],
    recoveryActions: ['wait_and_retry'],
  });
};

/** Set by the function of `infra/constructs/distribution.ts`, whatever the client sends. */
const viewerAddress = 'x-forwarded-address';

/** The caller's address as every limit counts it. */
export const addressOf = ({ headers, requestContext }: ApiEvent): string => {
  const { apiKey, sourceIp = '' } = requestContext.identity ?? {};
  const isFromCloudFront = typeof apiKey === 'string';
  return countedAddress((isFromCloudFront ? header(headers, viewerAddress) : undefined) ?? sourceIp);
};
