/**
 * A sign-in that has begun, as its cookie carries it: the browser alone has it, and an answer of the issuer counts only in
 * that browser.
 */
import * as z from 'zod';
import { isLocalPath } from '#shared/domain/browser-request.ts';
import { decodeJson } from './decode.ts';

const secret = z.string().min(16).max(256);

const flow = z.object({
  state: secret,
  nonce: secret,
  verifier: secret,
  /** Where the browser goes once the person is signed in. */
  returnTo: z.string().refine(isLocalPath),
});

export type SignInFlow = z.output<typeof flow>;

export const encodeFlow = (begun: SignInFlow): string =>
  Buffer.from(JSON.stringify(begun)).toString('base64url');

/** Undefined for a value that is none: a browser may send anything. */
export const decodeFlow = (value: string | undefined): SignInFlow | undefined => {
  if (value === undefined) return undefined;
  const decoded = decodeJson(flow, Buffer.from(value, 'base64url').toString());
  return decoded.ok ? decoded.value : undefined;
};
