/**
 * The frames of the relay: what its two ends send each other, as bytes.
 *
 * A frame is its kind (1 byte), the number of its stream (4 bytes), the length of its payload (4 bytes, big-endian) and the
 * payload. The reader takes pieces as they come and refuses a frame over its bound before it is held.
 */
import * as z from 'zod';
import { relayFrameBytesMax } from '#shared/domain/relay/limits.ts';
import { onFirstUse } from '../on-first-use.ts';

/**
 * `open` carries a target, `reset` a reason, `credit` a number of bytes, `data` bytes of the stream; the others nothing.
 */
export const frameKinds = ['open', 'accepted', 'data', 'end', 'reset', 'credit'] as const;
export type FrameKind = (typeof frameKinds)[number];

export type RelayFrame = {
  readonly kind: FrameKind;
  readonly stream: number;
  readonly payload: Uint8Array;
};

/** `http`: the sandbox's server speaks HTTP/1.1 in it; `tunnel`: bytes of user code pass. */
const egressTarget = onFirstUse(() =>
  z.strictObject({
    type: z.literal('egress'),
    via: z.enum(['http', 'tunnel']),
    host: z.string().min(1).max(255),
    port: z.number().int().min(1).max(65_535),
  }),
);
export type EgressTarget = z.output<ReturnType<typeof egressTarget>>;

/** One call of the platform: a request of JSON-RPC in, its answer out. */
const platformTarget = onFirstUse(() => z.strictObject({ type: z.literal('platform') }));

/** One call of a model: a request in the provider's own wire in, its answer out (`model-call.ts`). */
const modelTarget = onFirstUse(() => z.strictObject({ type: z.literal('model') }));

export const relayTarget = onFirstUse(() =>
  z.discriminatedUnion('type', [egressTarget(), platformTarget(), modelTarget()]),
);
export type RelayTarget = z.output<ReturnType<typeof relayTarget>>;

/** `status` is the one that an HTTP client is answered with. */
export const relayReset = onFirstUse(() =>
  z.object({
    status: z.number().int().min(400).max(599),
    message: z.string().max(1000),
  }),
);
export type RelayReset = z.output<ReturnType<typeof relayReset>>;

export const relayHeadBytes = 9;
const empty = new Uint8Array();

export const encodeFrame = (kind: FrameKind, stream: number, payload: Uint8Array = empty): Uint8Array => {
  const frame = new Uint8Array(relayHeadBytes + payload.length);
  const view = new DataView(frame.buffer);
  view.setUint8(0, frameKinds.indexOf(kind) + 1);
  view.setUint32(1, stream);
  view.setUint32(5, payload.length);
  frame.set(payload, relayHeadBytes);
  return frame;
};

export const encodeJson = (kind: 'open' | 'reset', stream: number, value: object): Uint8Array =>
  encodeFrame(kind, stream, new TextEncoder().encode(JSON.stringify(value)));

export const encodeCredit = (stream: number, bytes: number): Uint8Array => {
  const payload = new Uint8Array(4);
  new DataView(payload.buffer).setUint32(0, bytes);
  return encodeFrame('credit', stream, payload);
};

/** Throws for bytes that are no such payload. */
export const decodeCredit = ({ payload }: RelayFrame): number => {
  if (payload.length !== 4) throw new Error('a credit without its number');
  return new DataView(payload.buffer, payload.byteOffset, 4).getUint32(0);
};

/** Throws for bytes that are not of the schema. */
export const decodeJson = <Schema extends z.ZodType>(
  schema: Schema,
  { payload }: RelayFrame,
): z.output<Schema> => schema.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload)));

/** Takes bytes as they come and returns the frames that are whole; throws for one that breaks the bounds. */
export const createFrameDecoder = (): ((chunk: Uint8Array) => readonly RelayFrame[]) => {
  let held: Uint8Array[] = [];
  let bytes = 0;
  let needed = relayHeadBytes;
  return (chunk) => {
    const frames: RelayFrame[] = [];
    held.push(chunk);
    bytes += chunk.length;
    while (bytes >= needed) {
      const joined = joinBytes(held, bytes);
      held = [joined];
      needed = frameBytes(joined);
      if (bytes < needed) break;
      frames.push(frameOf(joined.subarray(0, needed)));
      held = [joined.subarray(needed)];
      bytes -= needed;
      needed = relayHeadBytes;
    }
    return frames;
  };
};

export const joinBytes = (pieces: readonly Uint8Array[], bytes: number): Uint8Array => {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  const joined = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
};

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const frameBytes = (bytes: Uint8Array): number => {
  const payload = viewOf(bytes).getUint32(5);
  if (payload > relayFrameBytesMax) throw new Error(`a frame of ${payload} bytes`);
  return relayHeadBytes + payload;
};

const frameOf = (bytes: Uint8Array): RelayFrame => {
  const view = viewOf(bytes);
  const kind = frameKinds[view.getUint8(0) - 1];
  if (kind === undefined) throw new Error(`a frame of the unknown kind ${view.getUint8(0)}`);
  return { kind, stream: view.getUint32(1), payload: bytes.subarray(relayHeadBytes) };
};
