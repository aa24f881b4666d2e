/**
 * Calls that their client can cancel although the cancellation reaches another function.
 *
 * Only a call that lasts is recorded, and its record is polled while it runs. A cancellation waits until every
 * call that ran before it is recorded, so that two calls under the same token and request id are seen as two:
 * then neither is cancelled. A store that fails costs a call nothing but this.
 */

import type { RunningCall } from '../../ports/calls.ts';
import type { Deps } from '../deps.ts';

/** Ids of requests are the client's own: another client may use the same. `credential`: as its calls are counted (`countedAs`). */
export type CallRequest = { readonly credential: string; readonly requestId: string | number };

/** A shorter call costs no write. */
export const recordAfterMs = 500;
/** The time for which a cancellation waits for earlier calls to be recorded: `recordAfterMs`, and the write. */
const settleMs = 1000;
const glanceMs = 500;
/** No function runs longer (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). */
const callMsMax = 900_000;

const callerOf = (
  { world }: Deps<'runningCalls' | 'telemetry' | 'world'>,
  { credential, requestId }: CallRequest,
): string => world.sha256(JSON.stringify([credential, requestId]));

/** Runs `work`, whose signal is aborted by a cancellation; the record is deleted when this returns. */
export const runCancellable = async <T>(
  ports: Deps<'runningCalls' | 'telemetry' | 'world'>,
  request: CallRequest,
  work: (cancelled: AbortSignal) => Promise<T>,
): Promise<T> => {
  const { world } = ports;
  const startedAt = world.now();
  const call = {
    caller: callerOf(ports, request),
    id: world.uuid(),
    startedAt,
    until: startedAt + callMsMax,
  };
  const cancelling = new AbortController();
  const over = new AbortController();
  const watching = watch(ports, call, { cancelling, over: over.signal }).catch((error: unknown) =>
    ports.telemetry.warn('a running call was not polled', { error }),
  );
  try {
    return await work(cancelling.signal);
  } finally {
    over.abort();
    await watching;
  }
};

const watch = async (
  { runningCalls, world }: Deps<'runningCalls' | 'telemetry' | 'world'>,
  call: RunningCall,
  { cancelling, over }: { readonly cancelling: AbortController; readonly over: AbortSignal },
): Promise<void> => {
  await world.sleep(recordAfterMs, over);
  if (over.aborted) return;
  await runningCalls.put(call);
  try {
    while (!over.aborted) {
      if (await runningCalls.isCancelled(call)) return cancelling.abort(new Error('cancelled by its client'));
      await world.sleep(glanceMs, over);
    }
  } finally {
    await runningCalls.remove(call);
  }
};

/** Cancels the only call that this request can mean; false when there is none, or more than one. */
export const cancelRunningCall = async (
  ports: Deps<'runningCalls' | 'telemetry' | 'world'>,
  request: CallRequest,
): Promise<boolean> => {
  const { runningCalls, world } = ports;
  const askedAt = world.now();
  await world.sleep(settleMs);
  const found = await runningCalls.find(callerOf(ports, request), world.now());
  const [call, ...others] = found.filter(({ startedAt }) => startedAt <= askedAt);
  if (call === undefined || others.length > 0) return false;
  await runningCalls.cancel(call);
  return true;
};
