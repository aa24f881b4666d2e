/** A decision that may come too late: the call was decided elsewhere, or another one waits in its place. */
import { decideCall, isSettled, type WaitingCall } from '#sdk/approvals.ts';
import { SallyportError } from '#sdk/errors.ts';
import type { Decision } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';

/** A conflict: another call waits than the one that was shown. */
export const tryDecision = async (
  client: Sallyport,
  call: WaitingCall,
  decision: Decision,
): Promise<'decided' | 'settled' | { readonly conflict: string }> => {
  try {
    return (await ifWaiting(decideCall(client, call, decision))) === undefined ? 'settled' : 'decided';
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'conflict') return { conflict: error.message };
    throw error;
  }
};

/** Undefined: the call was decided elsewhere, or its turn was cancelled. */
export const ifWaiting = async <T>(request: Promise<T>): Promise<T | undefined> => {
  try {
    return await request;
  } catch (error) {
    if (isSettled(error)) return undefined;
    throw error;
  }
};
