/**
 * The archive: a workspace on its way between a sandbox and the link, as one stream of frames.
 *
 * A frame is two lengths (header, payload; unsigned 32-bit big-endian), a JSON header and the payload's bytes.
 * Out of a sandbox: `begin`, then entries in any order in which a folder precedes its content, then `end`; a
 * stream without its `end` is no archive. A file's content follows its header as `data` frames and is closed by
 * `file-end`; `same` means unchanged since the base. Into a sandbox: the same, with the hash each file must have.
 * The reader refuses frames over its bounds before it has read them.
 *
 * Out of the shared volume comes only what changed, with `removed` for each deleted entry, and a file over
 * `wholeFileBytesMax` has its hash before its content.
 */
import * as z from 'zod';
import { mtimeMsMax } from '#shared/domain/checkpoint.ts';
import { pathCharactersMax, sha256 } from './fields.ts';
import { onFirstUse } from './on-first-use.ts';

const archiveHeader = onFirstUse(() => {
  const path = z.string().min(1).max(pathCharactersMax);
  const mode = z.number().int().min(0).max(0o777);
  const count = z.number().int().min(0);
  return z.discriminatedUnion('type', [
    /** `isFull`: the base is not known here, so every file's content follows. */
    z.object({ type: z.literal('begin'), isFull: z.boolean() }),
    z.object({ type: z.literal('directory'), path, mode }),
    z.object({ type: z.literal('symlink'), path, target: path }),
    /** Out of a workspace without `sha256`, into a sandbox with it. `same`: no content follows, and no `file-end`. */
    z.object({
      type: z.literal('file'),
      path,
      mode,
      mtimeMs: z.number().min(0).max(mtimeMsMax),
      size: count,
      same: z.literal(true).exactOptional(),
      sha256: sha256.exactOptional(),
    }),
    z.object({ type: z.literal('data') }),
    /** The bytes that came: a file may change length while it is read. `isWhole` false: the content is not to be used. */
    z.object({
      type: z.literal('file-end'),
      size: count,
      sha256: sha256.exactOptional(),
      isWhole: z.boolean(),
    }),
    z.object({ type: z.literal('left-out'), path: z.string(), reason: z.string() }),
    /** Out of the shared volume alone: it was in the base and is deleted. */
    z.object({ type: z.literal('removed'), path }),
    z.object({ type: z.literal('end') }),
  ]);
});

export type ArchiveHeader = z.output<ReturnType<typeof archiveHeader>>;
export type ArchiveFrame = { readonly header: ArchiveHeader; readonly payload: Uint8Array };

/** A `data` frame carries at most this many bytes. */
export const archivePieceBytesMax = 256 * 1024;
const headerBytesMax = 64 * 1024;
const prefixBytes = 8;
const none = new Uint8Array(0);

export const encodeArchiveFrame = (header: ArchiveHeader, payload: Uint8Array = none): Uint8Array => {
  const head = new TextEncoder().encode(JSON.stringify(header));
  const frame = new Uint8Array(prefixBytes + head.length + payload.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, head.length);
  view.setUint32(4, payload.length);
  frame.set(head, prefixBytes);
  frame.set(payload, prefixBytes + head.length);
  return frame;
};

/** The frames of a stream of bytes; throws on a frame over its bounds, of another shape, or cut in its middle. */
export async function* readArchive(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ArchiveFrame> {
  let pending: Uint8Array[] = [];
  let bytes = 0;
  let needed = prefixBytes;
  for await (const chunk of chunks) {
    pending.push(chunk);
    bytes += chunk.length;
    while (bytes >= needed) {
      const buffer = join(pending, bytes);
      const length = frameBytes(buffer);
      pending = [buffer];
      needed = length;
      if (bytes < length) break;
      yield decodeFrame(buffer.subarray(0, length));
      pending = [buffer.subarray(length)];
      bytes -= length;
      needed = prefixBytes;
    }
  }
  if (bytes > 0) throw new Error('the archive ends in the middle of a frame');
}

const join = (chunks: readonly Uint8Array[], bytes: number): Uint8Array => {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(bytes);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
};

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const frameBytes = (buffer: Uint8Array): number => {
  const header = viewOf(buffer).getUint32(0);
  const payload = viewOf(buffer).getUint32(4);
  if (header > headerBytesMax) throw new Error(`an archive header of ${header} bytes`);
  if (payload > archivePieceBytesMax) throw new Error(`an archive payload of ${payload} bytes`);
  return prefixBytes + header + payload;
};

/** Strict: a path that is no UTF-8 is refused, not turned into another one. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const decodeFrame = (frame: Uint8Array): ArchiveFrame => {
  const end = prefixBytes + viewOf(frame).getUint32(0);
  const text = decoder.decode(frame.subarray(prefixBytes, end));
  return { header: archiveHeader().parse(JSON.parse(text)), payload: frame.subarray(end) };
};
