/**
 * A call that waits for a person, as a prompt shows it: told by a frame or a list, which may have cut its arguments, and
 * completed and checked here before anything can be approved.
 *
 * The digest is made again from what is shown: what a person reads, what they send and what runs are the same call.
 */
import { type ShallowRef, shallowRef } from 'vue';
import type { CallId, TurnId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { digestText } from '#shared/domain/turn/call-digest.ts';
import { type RequestError, request } from '../api/request.ts';
import { api, type Decision } from '../api/routes.ts';

export type WaitingCall = {
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string;
  readonly name: string;
  readonly args: JsonObject;
  /** As the server says it, in lower-case hexadecimal. */
  readonly digest: string;
  /** The arguments are not all here. */
  readonly isCut: boolean;
};

export type CheckedCall =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The call that was loaded is not the one that the server asks about. */
  | { readonly kind: 'differs'; readonly digest: string }
  | { readonly kind: 'whole'; readonly args: JsonObject; readonly digest: string };

export type CheckedLoad = {
  readonly state: Readonly<ShallowRef<CheckedCall>>;
  readonly load: () => Promise<void>;
};

/** The whole of a call, once its digest has been found to be the one that is asked about. */
export const useCheckedCall = (call: WaitingCall): CheckedLoad => {
  const state = shallowRef<CheckedCall>({ kind: 'loading' });
  const load = async (): Promise<void> => {
    state.value = { kind: 'loading' };
    try {
      const whole = call.isCut ? await fetchWhole(call) : call;
      const digest = await digestOf(whole);
      state.value =
        digest === call.digest ? { kind: 'whole', args: whole.args, digest } : { kind: 'differs', digest };
    } catch (error) {
      state.value = { kind: 'failed', error };
    }
  };
  void load();
  return { state, load };
};

const fetchWhole = async ({ sessionId, callId }: WaitingCall): Promise<DigestedParts> => {
  const { turnId, name, args } = await request(api.readApproval, { params: { id: sessionId, callId } });
  return { turnId, callId, name, args: args as JsonObject };
};

type DigestedParts = Pick<WaitingCall, 'turnId' | 'callId' | 'name' | 'args'>;

const digestOf = async ({ turnId, callId, name, args }: DigestedParts): Promise<string> => {
  const text = digestText({ turnId: turnId as TurnId, callId: callId as CallId, name, args });
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
};

export const sendDecision = (
  { sessionId, callId, turnId, digest }: WaitingCall,
  decision: Decision,
): Promise<unknown> =>
  request(api.decideCall, { params: { id: sessionId, callId }, body: { ...decision, turnId, digest } });

/** Another decision came first, or its turn is over. */
export const isAlreadyDecided = ({ code }: Pick<RequestError, 'code'>): boolean =>
  code === 'no_pending_tool_call';

/** In words, why a decision did not count. */
export const whyUndecided = (error: { readonly code?: string; readonly message: string }): string =>
  error.code === 'conflict'
    ? `Not decided, and nothing ran: ${error.message}`
    : `Not decided: ${error.message}`;
