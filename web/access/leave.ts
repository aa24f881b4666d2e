/**
 * The sign-out that a person asks for: the server ends the sign-in of a cookie first, and until it has the person stays signed in.
 * The other tabs of this browser are told, so that they keep no text either.
 */
import { api } from '#sdk/routes.ts';
import { request } from '../api/request.ts';
import { signOut, usesCookie } from './access.ts';
import { endToken } from './shared-token.ts';

export const leave = async (everywhere = false): Promise<void> => {
  if (usesCookie()) {
    await request(api.signOut, { body: { everywhere } });
    endToken(null);
  }
  signOut();
};
