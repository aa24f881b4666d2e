/**
 * Retry of a request during which the relay ended, with the next holder, which is waited for as for a new stream.
 *
 * Only a request without a further effect is retried: the first try may have been performed. A message to an agent gets an id of its own for
 * that; a tool of a client of the session has none, and its caller is told instead. Invariant RL6: docs/spec/relay.md.
 */
import { randomUUID } from 'node:crypto';
import type { RelayRequest } from '#shared/contracts/relay/rpc.ts';
import { relayLineBytesMax, relayTakeUpsMax } from '#shared/domain/relay/limits.ts';
import { isEndOfRelay } from './relay.ts';

export const retryWithNextHolder = async <T>(
  attempt: () => Promise<T>,
  mayRepeat: () => boolean = () => true,
): Promise<T> => {
  for (let takeUps = 0; ; takeUps += 1)
    try {
      return await attempt();
    } catch (cause) {
      if (!isEndOfRelay(cause) || takeUps === relayTakeUpsMax || !mayRepeat()) throw cause;
    }
};

type Call = { readonly line: Uint8Array; readonly mayRepeat: boolean };

/** The line that is sent, the same each time. */
export const repeatable = (request: RelayRequest, line: Uint8Array): Call => {
  if (request.method === 'caller_tool') return { line, mayRepeat: false };
  if (request.method !== 'session_message') return { line, mayRepeat: true };
  const { params } = request;
  if (params?.['message_id'] !== undefined) return { line, mayRepeat: true };
  const named = { ...request, params: { ...params, message_id: randomUUID() } };
  const bytes = new TextEncoder().encode(JSON.stringify(named));
  return bytes.length < relayLineBytesMax ? { line: bytes, mayRepeat: true } : { line, mayRepeat: false };
};
