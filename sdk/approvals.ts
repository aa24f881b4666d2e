/**
 * Calls that wait for a person: read completely, named by the digest of what was read, and decided by that digest.
 *
 * The digest is always computed here. If it differs from that of the waiting call, another call was read.
 */

import { canonicalJson } from '../shared/domain/canonical-json.ts';
import { digestedEffect } from '../shared/domain/effect.ts';
import type { CallId, TurnId } from '../shared/domain/ids.ts';
import type { JsonObject } from '../shared/domain/json.ts';
import { digestText } from '../shared/domain/turn/waiting-call.ts';
import type { ApiClient } from './api-client.ts';
import { SallyportError } from './errors.ts';
import type { BodyOf, Signalled } from './route.ts';
import { type Approval, api, type Decision } from './routes.ts';

type NamedCall = {
  readonly turnId: string;
  readonly callId: string;
  readonly name: string;
  readonly args: JsonObject;
};
export type WaitingCall = Omit<Approval, 'args'> & { readonly args: JsonObject };
/** The part of a call that a person reads before a decision. */
export type ShownCall = Pick<
  WaitingCall,
  | 'sessionId'
  | 'callId'
  | 'name'
  | 'args'
  | 'digest'
  | 'effect'
  | 'effectDigest'
  | 'effectMissing'
  | 'advisory'
>;
type CallAddress = { readonly sessionId: string; readonly callId: string };

/** In lower-case hexadecimal, as the server writes it. */
export const digestOf = ({ turnId, callId, name, args }: NamedCall): Promise<string> =>
  sha256Of(digestText({ turnId: turnId as TurnId, callId: callId as CallId, name, args }));

/** Of the effect of a call, together with the call itself. */
export const effectDigestOf = ({ digest, effect }: { readonly digest: string; readonly effect: object }) =>
  sha256Of(canonicalJson(digestedEffect(digest, effect)));

const sha256Of = async (text: string): Promise<string> => {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
};

/** The whole call; refused with `digest_mismatch` unless its digest is the one given, or else the server's own. */
export const readCall = async (
  sallyport: ApiClient,
  { sessionId, callId }: CallAddress,
  askedDigest?: string,
): Promise<WaitingCall> => {
  const answer = await sallyport.request(api.readApproval, { params: { id: sessionId, callId } });
  const call = { ...answer, args: answer.args as JsonObject };
  await checkDigest(call, askedDigest ?? answer.digest);
  await checkEffect(call);
  return call;
};

type EffectOfCall = Pick<WaitingCall, 'callId' | 'digest'> & {
  readonly effect?: object | undefined;
  readonly effectDigest?: string | undefined;
};

/** Refused with `digest_mismatch` unless the effect that is shown is the one that would be approved. */
export const checkEffect = async ({ callId, digest, effect, effectDigest }: EffectOfCall): Promise<void> => {
  if (effect === undefined || (await effectDigestOf({ digest, effect })) === effectDigest) return;
  throw mismatch(callId);
};

/** Refused with `digest_mismatch` unless the digest is that of this call. */
export const checkDigest = async (call: NamedCall, digest: string): Promise<void> => {
  if ((await digestOf(call)) !== digest) throw mismatch(call.callId);
};

const mismatch = (callId: string): SallyportError =>
  new SallyportError(0, {
    code: 'digest_mismatch',
    message: `the server's digest of call ${callId} is not that of what it showed`,
    suggestions: ['Nothing was decided. Compare the versions of this program and the deployment.'],
  });

type SeenCall = CallAddress &
  Signalled & {
    readonly digest?: string;
    readonly turnId?: string;
    readonly effectDigest?: string | undefined;
  };

/** `digest`, `turnId` and `effectDigest` name what was seen; they are absent only where a call is rejected unseen. */
export const decideCall = (
  sallyport: ApiClient,
  { sessionId, callId, digest, turnId, effectDigest, signal }: SeenCall,
  decision: Decision,
) => {
  // JSON leaves out what is undefined.
  const seen = { turnId, digest, ...(decision.approved && { effectDigest }) };
  const body = { ...decision, ...seen } as BodyOf<typeof api.decideCall>;
  return sallyport.request(api.decideCall, { params: { id: sessionId, callId }, body }, { signal });
};

/** Another decision came first, the turn of the call is over, or its session was deleted. */
export const isSettled = (error: unknown): boolean =>
  error instanceof SallyportError &&
  ['no_pending_tool_call', 'not_found', 'session_not_found'].includes(error.code);
