/**
 * One call of the platform by a program of a sandbox: the request is read to its end, given to the function that has the tools, and
 * answered. The stream says nothing about rights: they are judged there, by the session for which the relay is held (PS1).
 */

import type { RelayStream, StreamSink } from '../../contracts/relay/peer.ts';
import type { PlatformAnswer } from '../../contracts/relay/platform-call.ts';
import { failureCodes, type RelayRequest, readRequest } from '../../contracts/relay/rpc.ts';
import { relayLineBytesMax } from '../../domain/relay/limits.ts';
import type { Deps } from '../deps.ts';
import { collectRequest } from './whole-request.ts';

export type PlatformContext = {
  readonly answer: (request: RelayRequest, signal: AbortSignal) => Promise<PlatformAnswer>;
} & Deps<'telemetry'>;

const overLong = { status: 400, message: 'the message is too long' };

/** Gives back the sink of a stream that the sandbox has just opened. */
export const openPlatformStream = (context: PlatformContext, stream: RelayStream): StreamSink =>
  collectRequest(stream, {
    bytesMax: relayLineBytesMax,
    tooLong: overLong,
    onWhole: (line, signal) => void sayAnswer(context, { stream, line, signal }),
  });

type Asked = { readonly stream: RelayStream; readonly line: Uint8Array; readonly signal: AbortSignal };

const sayAnswer = async (context: PlatformContext, { stream, line, signal }: Asked): Promise<void> => {
  const answer = await answerTo(context, line, signal);
  if (signal.aborted) return;
  const written = new TextEncoder().encode(JSON.stringify({ jsonrpc: '2.0', ...answer }));
  const fits = written.length < relayLineBytesMax;
  const said = fits ? written : new TextEncoder().encode(JSON.stringify({ jsonrpc: '2.0', ...tooLong }));
  if (await stream.write(said)) stream.end();
};

const answerTo = async (
  { answer, telemetry }: PlatformContext,
  line: Uint8Array,
  signal: AbortSignal,
): Promise<PlatformAnswer> => {
  const read = readRequest(line);
  if (!read.ok) return { error: { code: read.code, message: read.problem } };
  try {
    return await answer(read.request, signal);
  } catch (error) {
    if (!signal.aborted) telemetry.error('a call from a sandbox was not answered', { error });
    return unanswered;
  }
};

const tooLong: PlatformAnswer = {
  error: {
    code: failureCodes.refused,
    message: 'the answer is over 1 MB: ask for less',
    data: { code: 'payload_too_large' },
  },
};

const unanswered: PlatformAnswer = {
  error: {
    code: failureCodes.internal,
    message: 'the platform failed to answer: try again',
    data: { code: 'internal_error' },
  },
};
