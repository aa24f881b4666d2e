/**
 * A call that waits for a person: read whole, and named by the digest of what was read.
 *
 * The digest is always made here, of what is shown. Where the server's own differs, what was shown is not the call that
 * waits, and it cannot be decided from here.
 */
import { createHash } from 'node:crypto';
import type { CallId, TurnId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { digestText } from '#shared/domain/turn/call-digest.ts';
import type { Remember } from '#shared/domain/turn/grant.ts';
import type { Frame } from '../conversation/event-order.ts';
import { failure, toFailure } from '../failure.ts';
import { type HttpClient, segment } from '../http-client.ts';

export type NamedCall = {
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string;
  readonly name: string;
  readonly args: JsonObject;
};
export type WaitingCall = NamedCall & {
  readonly askedAt?: string;
  readonly queuePosition: number;
  readonly totalInQueue: number;
};

export type Decision = {
  readonly approved: boolean;
  /** Absent only where a call is rejected unseen. */
  readonly digest?: string;
  readonly turnId?: string;
  readonly reason?: string;
  readonly args?: JsonObject;
  readonly remember?: Remember;
};

export type Decided = { readonly callId: string; readonly approved: boolean };

export const digestOf = ({ turnId, callId, name, args }: Omit<NamedCall, 'sessionId'>): string => {
  const call = { turnId: turnId as TurnId, callId: callId as CallId, name, args };
  return createHash('sha256').update(digestText(call)).digest('hex');
};

export const approvalPath = (sessionId: string, callId: string): string =>
  `/api/sessions/${segment(sessionId)}/approvals/${segment(callId)}`;

export const readCall = async (
  client: HttpClient,
  sessionId: string,
  callId: string,
): Promise<WaitingCall> => {
  const { digest, ...call } = await client.get<WaitingCall & { digest: string }>(
    approvalPath(sessionId, callId),
  );
  if (digest === digestOf(call)) return call;
  throw failure('digest_mismatch', `the server's digest of call ${callId} is not that of what it showed`, {
    suggestions: ['Nothing was decided. Compare the version of this program with that of the deployment.'],
  });
};

/** The call of a frame: a frame that does not hold the whole of it, by its own digest, is not looked at further. */
export const callOf = async (client: HttpClient, { sessionId, data }: Frame): Promise<WaitingCall> => {
  const { digest, ...call } = data as Omit<WaitingCall, 'sessionId'> & { readonly digest: string };
  return digestOf(call) === digest ? { ...call, sessionId } : readCall(client, sessionId, call.callId);
};

export const sendDecision = (
  client: HttpClient,
  { sessionId, callId }: Pick<NamedCall, 'sessionId' | 'callId'>,
  decision: Decision,
): Promise<Decided> => client.send('POST', approvalPath(sessionId, callId), decision);

export const decisionOf = (call: NamedCall, choice: Omit<Decision, 'digest' | 'turnId'>): Decision => ({
  ...choice,
  digest: digestOf(call),
  turnId: call.turnId,
});

/** `settled`: it was decided elsewhere. A conflict: another call waits than the one that was shown. */
export const tryDecision = async (
  client: HttpClient,
  call: NamedCall,
  decision: Decision,
): Promise<'decided' | 'settled' | { readonly conflict: string }> => {
  try {
    return (await ifWaiting(sendDecision(client, call, decision))) === undefined ? 'settled' : 'decided';
  } catch (error) {
    const { code, message } = toFailure(error).body.error;
    if (code === 'conflict') return { conflict: message };
    throw error;
  }
};

const settledCodes: ReadonlySet<string> = new Set(['no_pending_tool_call', 'not_found']);

/** Undefined: the call was decided elsewhere, or its turn was cancelled. */
export const ifWaiting = async <T>(request: Promise<T>): Promise<T | undefined> => {
  try {
    return await request;
  } catch (error) {
    if (settledCodes.has(toFailure(error).body.error.code)) return undefined;
    throw error;
  }
};
