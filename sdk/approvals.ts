/**
 * Calls that wait for a person: read whole, named by the digest of what was read, and decided by that digest.
 *
 * The digest is always made here. Where it differs from the one that is asked about, the call that was read is another
 * one than the call that waits.
 */

import type { CallId, TurnId } from '../shared/domain/ids.ts';
import type { JsonObject } from '../shared/domain/json.ts';
import { digestText } from '../shared/domain/turn/waiting-call.ts';
import { SallyportError } from './errors.ts';
import { type Approval, api, type Decision } from './routes.ts';
import type { BodyOf, Sallyport } from './sallyport.ts';

type NamedCall = {
  readonly turnId: string;
  readonly callId: string;
  readonly name: string;
  readonly args: JsonObject;
};
export type WaitingCall = Omit<Approval, 'args'> & { readonly args: JsonObject };
type CallAddress = { readonly sessionId: string; readonly callId: string };

/** In lower-case hexadecimal, as the server writes it. */
export const digestOf = async ({ turnId, callId, name, args }: NamedCall): Promise<string> => {
  const text = digestText({ turnId: turnId as TurnId, callId: callId as CallId, name, args });
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
};

/** The whole call; refused with `digest_mismatch` unless its digest is the one given, or else the server's own. */
export const readCall = async (
  sallyport: Sallyport,
  { sessionId, callId }: CallAddress,
  askedDigest?: string,
): Promise<WaitingCall> => {
  const answer = await sallyport.request(api.readApproval, { params: { id: sessionId, callId } });
  const call = { ...answer, args: answer.args as JsonObject };
  if ((await digestOf(call)) === (askedDigest ?? answer.digest)) return call;
  throw new SallyportError(0, {
    code: 'digest_mismatch',
    message: `the server's digest of call ${callId} is not that of what it showed`,
    suggestions: ['Nothing was decided. Compare the version of this program with that of the deployment.'],
  });
};

/** `digest` and `turnId` name the call that was seen; they are absent only where a call is rejected unseen. */
export const decideCall = (
  sallyport: Sallyport,
  { sessionId, callId, digest, turnId }: CallAddress & { readonly digest?: string; readonly turnId?: string },
  decision: Decision,
) =>
  sallyport.request(api.decideCall, {
    params: { id: sessionId, callId },
    body: {
      ...decision,
      ...(turnId === undefined ? {} : { turnId }),
      ...(digest === undefined ? {} : { digest }),
    } as BodyOf<typeof api.decideCall>,
  });

/** Another decision came first, or the turn of the call is over. */
export const isSettled = (error: unknown): boolean =>
  error instanceof SallyportError && ['no_pending_tool_call', 'not_found'].includes(error.code);
