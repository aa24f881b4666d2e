/** The sign-out that a person asks for: the server ends the sign-in of a cookie first, and until it has the person stays signed in. */
import { api } from '#sdk/routes.ts';
import { request } from '../api/request.ts';
import { signOut, usesCookie } from './access.ts';

export const leave = async (everywhere = false): Promise<void> => {
  if (usesCookie()) await request(api.signOut, { body: { everywhere } });
  signOut();
};
