/**
 * `SandboxTools` over the sandbox's own route, `POST /calls/{id}`: one request a call, answered by a stream of events.
 *
 * A stream that ends, breaks or falls silent without a result says nothing about the call: it is `lost`, and is asked for again under
 * its key. A sandbox of the release before does not know the route; its calls go over MCP.
 */
import { type CallEvent, refusalHeader } from '#shared/contracts/sandbox-call.ts';
import type { LiveSandbox } from '#shared/domain/sandbox.ts';
import type { AskedOutcome, SandboxLink, SandboxTools, ToolOutcome } from '#shared/ports/sandbox.ts';
import { startInputTimeout } from '../input-timeout.ts';
import { readEvents } from './call-events.ts';
import { type AskedCall, callMsMax, callPath, callRequest } from './call-request.ts';
import { lostWith, refusedOutcome, toOutcome, toProgress, unknownOutcome } from './tool-result.ts';

/** Asks a sandbox that does not know the route. */
type AskOlder = (link: SandboxLink, call: AskedCall) => Promise<AskedOutcome>;

export const makeSandboxCalls = (link: SandboxLink, askOlder: AskOlder): SandboxTools => {
  const ask = async (call: AskedCall): Promise<AskedOutcome> => {
    if (call.signal?.aborted) {
      // An earlier request may have begun it.
      await cancel(link, call.sandbox, call.callKey);
      return cancelledEarly;
    }
    const onAbort = (): void => void cancel(link, call.sandbox, call.callKey);
    call.signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return (await askOnce(link, call)) ?? (await askOlder(link, call));
    } finally {
      call.signal?.removeEventListener('abort', onAbort);
    }
  };
  return {
    call: async (call) => {
      const outcome = await ask({ ...call, waitMs: undefined });
      return outcome.status === 'running' ? answeredEarly : outcome;
    },
    callFor: ask,
    cancel: (sandbox, callKey) => cancel(link, sandbox, callKey),
  };
};

/** To a request without a bound: it is asked again. */
const answeredEarly = { status: 'lost', message: 'the sandbox answered before the end of the call' } as const;

const cancelledEarly = { status: 'lost', message: 'the call was cancelled before it was sent' } as const;

/** The sandbox kills the call, and the call's own answer reports it. An unreachable sandbox has nothing to kill. */
const cancel = async (link: SandboxLink, sandbox: LiveSandbox, callKey: string): Promise<void> => {
  await link.fetch(sandbox, { method: 'POST', path: `${callPath(callKey)}/cancel` }).then(
    (response) => response.body?.cancel(),
    () => undefined,
  );
};

/** Undefined: the sandbox does not know the route. */
const askOnce = async (link: SandboxLink, call: AskedCall): Promise<AskedOutcome | undefined> => {
  const silence = new AbortController();
  const stopTimer = startInputTimeout(callMsMax(call), () =>
    silence.abort(new Error('the sandbox did not answer in time')),
  );
  try {
    const response = await link.fetch(call.sandbox, callRequest(call, silence.signal));
    if (response.status !== 200 || response.body === null) return await withoutResult(response);
    return await heard(readEvents(response.body, silence.signal), { call, silence: silence.signal });
  } catch (error) {
    return unknownOutcome(silence.signal.aborted ? silence.signal.reason : error);
  } finally {
    stopTimer();
  }
};

/** A `CallEvent` whose values were not checked. */
type Said = { readonly [Name in KeysOf<CallEvent>]?: unknown };
type KeysOf<Event> = Event extends unknown ? keyof Event : never;

type Listening = { readonly call: AskedCall; readonly silence: AbortSignal };

const heard = async (events: AsyncIterable<unknown>, { call, silence }: Listening): Promise<AskedOutcome> => {
  for await (const said of events) {
    const event = said as Said;
    if (event.result !== undefined) return withSaved(toOutcome(event.result), event.asSaved);
    if (event.isRunning === true) return { status: 'running' };
    if (event.isRelayWanted === true) call.onRelayWanted?.();
    const progress = toProgress(event.output);
    if (progress !== undefined) call.onProgress(progress);
  }
  silence.throwIfAborted();
  throw new Error('the sandbox closed the connection');
};

const withSaved = (outcome: ToolOutcome, asSaved: unknown): ToolOutcome =>
  outcome.status === 'finished' && isCount(asSaved) ? { ...outcome, asSaved } : outcome;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const withoutResult = async (response: Response): Promise<AskedOutcome | undefined> => {
  const isRefusal = response.headers.get(refusalHeader) === 'true';
  if (!isRefusal || ![400, 404, 413].includes(response.status)) {
    await response.body?.cancel();
    return lostWith(response.status);
  }
  const text = await response.text();
  return response.status === 404 ? undefined : refusedOutcome(text);
};
