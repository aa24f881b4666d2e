/**
 * A call that waits for a person, as a prompt shows it: told by a frame or a list, which may have cut its arguments, and
 * completed and checked here before anything can be approved.
 *
 * The digest is made again from what is shown: the call that a person reads, approves and that runs is the same.
 */
import { onScopeDispose, type ShallowRef, shallowRef } from 'vue';
import {
  checkEffect,
  decideCall,
  digestOf,
  readCall,
  type ShownCall,
  type WaitingCall as WholeCall,
} from '#sdk/approvals.ts';
import { SallyportError } from '#sdk/errors.ts';
import { api, type Decision } from '#sdk/routes.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { may } from '../access/access.ts';
import { clientOf, inOurWords, request } from '../api/request.ts';

export type WaitingCall = Pick<WholeCall, 'turnId' | 'askedAt' | keyof ShownCall> & {
  /** The arguments are not all here. */
  readonly isCut: boolean;
};

type CheckedCall =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The call that was loaded is not the one that the server asks about. */
  | { readonly kind: 'differs' }
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
    state.value = await check(call).catch((error: unknown) =>
      error instanceof SallyportError && error.code === 'digest_mismatch'
        ? ({ kind: 'differs' } as const)
        : ({ kind: 'failed', error } as const),
    );
  };
  void load();
  return { state, load };
};

/** A call that is decided sooner had its sandbox all the time. */
const freshMs = 5000;

/** The time after which a prompt reads its call: none where that has waited, so that its sandbox may have been stopped. */
export const firstReadIn = (askedAt: string, now: number): number =>
  Math.max(0, Math.min(freshMs, freshMs - (now - Date.parse(askedAt))));

/**
 * Reads the call of a prompt that is opened on a call which has waited, of one that stays in view, and whenever it comes into view again: a
 * sandbox that was stopped for the wait comes back in the background. A failure changes nothing: then the decision starts it. A decision ends the
 * prompt, and with it a read that is on its way: the call would not be found.
 */
export const useOpenedPrompt = ({ sessionId: id, callId, askedAt }: WaitingCall): void => {
  const reads = new AbortController();
  const read = (): void => {
    if (document.visibilityState === 'visible' && may('own:write'))
      void request(api.readApproval, { params: { id, callId } }, { signal: reads.signal }).catch(
        () => undefined,
      );
  };
  const first = setTimeout(read, firstReadIn(askedAt, Date.now()));
  document.addEventListener('visibilitychange', read);
  onScopeDispose(() => {
    clearTimeout(first);
    reads.abort();
    document.removeEventListener('visibilitychange', read);
  });
};

const check = async (call: WaitingCall): Promise<CheckedCall> => {
  const { digest } = call;
  await checkEffect(call);
  if (call.isCut)
    return { kind: 'whole', args: (await readCall(clientOf(), call, digest).catch(inOurWords)).args, digest };
  return (await digestOf(call)) === digest ? { kind: 'whole', args: call.args, digest } : { kind: 'differs' };
};

export const sendDecision = (call: WaitingCall, decision: Decision): Promise<unknown> =>
  decideCall(clientOf(), call, decision).catch(inOurWords);

/** In words, why a decision did not count. */
export const whyUndecided = (error: { readonly code?: string; readonly message: string }): string =>
  error.code === 'conflict'
    ? `Not decided, and nothing ran: ${error.message}`
    : `Not decided: ${error.message}`;
