/**
 * One model call of a program of a sandbox: the request is read to its end, made with the operator's key, and its answer passes as it
 * comes. The call ends with its stream: a program that goes away, a relay that is lost or handed over aborts it, and what it had used by
 * then is counted.
 */

import {
  encodeHead,
  type ModelRequestHead,
  modelRequestHead,
  splitHead,
} from '../../contracts/relay/model-call.ts';
import type { RelayStream, StreamSink } from '../../contracts/relay/peer.ts';
import {
  brokerBodyBytesMax,
  brokerCallMsMax,
  brokerCallsMax,
  tooManyBrokerCalls,
} from '../../domain/broker/limits.ts';
import type { ModelAnswer, ModelCall } from '../broker/broker-call.ts';
import type { Deps } from '../deps.ts';
import { collectRequest } from './whole-request.ts';

type Request = Pick<ModelCall, 'provider' | 'method' | 'path' | 'body' | 'signal'>;

export type ModelStreams = {
  /** Gives back the sink of a stream that the sandbox has just opened. */
  readonly open: (stream: RelayStream) => StreamSink;
  /** Resolves when what every call has used is counted; all streams must have ended. */
  readonly settled: () => Promise<void>;
};

type Context = { readonly call: (request: Request) => Promise<ModelAnswer> } & Deps<'telemetry'>;

const headRoom = 4096;
const unreadable = { status: 400, message: 'the request cannot be read' };
const tooLong = { status: 413, message: `a request has at most ${brokerBodyBytesMax} bytes` };
const brokeOff = { status: 502, message: 'the answer of the model was interrupted' };

export const createModelStreams = (context: Context): ModelStreams => {
  /** Those that still send their request, too: each may hold 8 MB. */
  const open = new Set<RelayStream>();
  const calls = new Set<Promise<void>>();
  return {
    open: (stream) => {
      if (open.size >= brokerCallsMax) {
        stream.reset(tooManyBrokerCalls);
        return deaf;
      }
      open.add(stream);
      return collectRequest(stream, {
        bytesMax: brokerBodyBytesMax + headRoom,
        tooLong,
        onWhole: (bytes, signal) => {
          const ended = serve(context, { stream, bytes, signal }).finally(() => {
            open.delete(stream);
            calls.delete(ended);
          });
          calls.add(ended);
        },
        onBrokenOff: () => open.delete(stream),
      });
    },
    settled: async () => {
      await Promise.all(calls);
    },
  };
};

const deaf: StreamSink = { onData: () => undefined, onEnd: () => undefined, onReset: () => undefined };

type Asked = { readonly stream: RelayStream; readonly bytes: Uint8Array; readonly signal: AbortSignal };

const serve = async (context: Context, { stream, bytes, signal }: Asked): Promise<void> => {
  const read = requestOf(bytes);
  if (read === undefined) return stream.reset(unreadable);
  const limited = AbortSignal.any([signal, AbortSignal.timeout(brokerCallMsMax)]);
  try {
    const answer = await context.call({ ...read, signal: limited });
    if (await send(stream, answer)) stream.end();
  } catch (error) {
    if (signal.aborted) return;
    context.telemetry.warn('the answer of a model was interrupted on its way into a sandbox', { error });
    stream.reset(brokeOff);
  }
};

const requestOf = (bytes: Uint8Array): (ModelRequestHead & { readonly body: string }) | undefined => {
  try {
    const split = splitHead(modelRequestHead(), bytes);
    return split && { ...split.head, body: new TextDecoder().decode(split.rest) };
  } catch {
    return undefined;
  }
};

/** False when the program accepts no more. */
const send = async (stream: RelayStream, { body, ...head }: ModelAnswer): Promise<boolean> => {
  const isTaken = await stream.write(encodeHead(head));
  if (typeof body === 'string') return isTaken && stream.write(new TextEncoder().encode(body));
  // Leaving the loop cancels the body, which settles the call.
  for await (const piece of body) if (!(isTaken && (await stream.write(piece)))) return false;
  return true;
};
