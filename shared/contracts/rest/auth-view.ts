/** Sign-in of people with a browser, as REST shows it. */
import * as z from 'zod';
import { isLocalPath } from '#shared/domain/browser-request.ts';

export const authAnswer = z
  .object({
    login: z.boolean().describe('True when people can sign in with the identity provider.'),
    signedIn: z.boolean().describe('True when the cookie of this browser holds.'),
  })
  .meta({ id: 'Auth' });

export const loginQuery = z.object({
  returnTo: z
    .string()
    .refine(isLocalPath, 'must be a path of this origin, at most 512 characters')
    .default('/')
    .describe('Path of this origin to which the browser comes back.'),
});

/** The answer of the issuer (RFC 6749, 4.1.2). */
export const callbackQuery = z.object({
  code: z.string().optional().describe('Code of the identity provider.'),
  state: z.string().optional().describe('State of the sign-in.'),
  error: z.string().optional().describe('Reason why the sign-in failed.'),
});

export const logoutBody = z.object({
  everywhere: z.boolean().default(false).describe('Ends all sign-ins of the person, of all browsers.'),
});
