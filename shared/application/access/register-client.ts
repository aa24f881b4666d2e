/** Registration of a client by itself (RFC 7591). Limits the registrations of an hour, because anyone may register. */
import { type OAuthClient, unusedClientSecondsMax } from '../../domain/oauth/grant.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';

type Registration = Pick<OAuthClient, 'name' | 'redirectUris'> & { readonly address: string };

export const registerClient = async (
  { clients, world }: Deps<'clients' | 'world'>,
  { name, redirectUris, address }: Registration,
): Promise<OAuthClient> => {
  const createdAt = world.now();
  const expiresAt = createdAt + unusedClientSecondsMax * 1000;
  const client = { id: world.uuid(), name, redirectUris, createdAt, expiresAt };
  // The address is personal, and only compared.
  if (await clients.register(client, world.sha256(`address\n${address}`))) return client;
  throw new AppError('rate_limited', 'too many clients have registered in this hour', {
    suggestions: ['Try again in an hour.'],
    recoveryActions: ['wait_and_retry'],
    facts: { retryAfterSeconds: 3600 },
  });
};
