/** A token as it is listed: never its text, never its hash. */
import type { AccessToken } from '#shared/domain/token.ts';

const iso = (epochMs: number): string => new Date(epochMs).toISOString();

export const tokenView = ({ id, name, scope, masked, createdAt, expiresAt }: AccessToken) => ({
  id,
  name,
  scope,
  token: masked,
  createdAt: iso(createdAt),
  ...(expiresAt === undefined ? {} : { expiresAt: iso(expiresAt) }),
});
