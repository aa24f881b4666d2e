/**
 * Restores a saved workspace into a sandbox: one archive out of a manifest and its packs.
 *
 * Nothing is sent when the manifest is not the one that was saved (L10). Each file is sent with its hash from the
 * save, and the sandbox refuses other content. A deleted or truncated pack makes its files missing; the restore goes on.
 */
import * as z from 'zod';
import { type ArchiveHeader, archivePieceBytesMax, encodeArchiveFrame } from '#shared/contracts/archive.ts';
import { decode } from '#shared/contracts/decode.ts';
import type { ApplyCall, RestoreAnswer, RestoreCall } from '#shared/contracts/sandbox-link.ts';
import type { Manifest } from '#shared/domain/checkpoint.ts';
import { anotherManifest, nameSome, type PackRun, packKey, planPackRuns, readManifest } from './manifest.ts';
import { expectStatus, headersOf, openRequest, readJson } from './request-to-sandbox.ts';
import { type LinkContext, silenceMsMax } from './save.ts';

/** Every file of a workspace may be named as missing. */
const answerBytesMax = 32 * 1024 * 1024;
/** Small frames are sent together. */
const blockBytes = 128 * 1024;

const answerSchema = z.object({
  files: z.number().int().min(0),
  missing: z.array(z.object({ path: z.string(), reason: z.string() })),
});

/** Throws when the sandbox or the bucket fails. */
export const restore = async (call: RestoreCall, context: LinkContext): Promise<RestoreAnswer> => {
  const { bucket, telemetry } = context;
  const { workspace } = call;
  if (call.manifest === undefined) return { status: 'restored', files: 0, missing: [] };
  const manifest = await readManifest(bucket, workspace, call.manifest);
  if (manifest === undefined) {
    telemetry.error('a manifest is not the one that was saved', { workspace, manifest: call.manifest.id });
    return anotherManifest;
  }
  const path = `/restore?id=${manifest.id}&claim=${call.claim}`;
  const answer = await sendArchive(call, context, { path, frames: framesOfEntries(manifest, context) });
  if (answer === undefined) throw new Error('the sandbox has no workspace');
  const { files, missing } = answer;
  telemetry.info('a checkpoint was restored', { workspace, id: manifest.id, files, missing: missing.length });
  return { status: 'restored', files, missing: nameSome(missing) };
};

/** Undefined for a sandbox without this volume. */
export const sendArchive = async (
  call: RestoreCall | ApplyCall,
  { target }: LinkContext,
  { path, frames }: { readonly path: string; readonly frames: AsyncIterable<Uint8Array> },
): Promise<z.output<typeof answerSchema> | undefined> => {
  const response = await openRequest({
    target,
    method: 'POST',
    path,
    headers: { ...headersOf(call), 'content-type': 'application/octet-stream' },
    body: inBlocks(frames),
    silenceMsMax,
  });
  if (response.statusCode === 404) {
    response.destroy();
    return undefined;
  }
  expectStatus(response, 200);
  const answer = decode(answerSchema, await readJson(response, answerBytesMax));
  if (!answer.ok) throw new Error(`the sandbox answered in another shape: ${answer.problem}`);
  return answer.value;
};

async function* inBlocks(frames: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let block: Uint8Array[] = [];
  let bytes = 0;
  for await (const frame of frames) {
    block.push(frame);
    bytes += frame.length;
    if (bytes < blockBytes) continue;
    yield Buffer.concat(block);
    block = [];
    bytes = 0;
  }
  yield Buffer.concat(block);
}

/** Folders first, links last: no content is written through a link. `first`: frames before all of them. */
export async function* framesOfEntries(
  { entries, workspace }: Pick<Manifest, 'entries' | 'workspace'>,
  { bucket }: Pick<LinkContext, 'bucket'>,
  first: readonly Uint8Array[] = [],
): AsyncGenerator<Uint8Array> {
  yield encodeArchiveFrame({ type: 'begin', isFull: true });
  yield* first;
  for (const entry of entries) if (entry.type === 'directory') yield encodeArchiveFrame(entry);
  for (const run of planPackRuns(entries)) {
    const bytes = run.length === 0 ? nothing() : bucket.readRange(packKey(workspace, run.pack), run);
    yield* framesOfRun(run, bytes);
  }
  for (const entry of entries) if (entry.type === 'symlink') yield encodeArchiveFrame(entry);
  yield encodeArchiveFrame({ type: 'end' });
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function* framesOfRun(run: PackRun, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = openSource(bytes);
  let position = run.offset;
  try {
    for (const { type, path, mode, mtimeMs, size, sha256, offset } of run.files) {
      position += await drain(source.read(offset - position));
      yield encodeArchiveFrame({ type, path, mode, mtimeMs, size, sha256 });
      let sent = 0;
      // A pack that ended before this file has no bytes for it, nor for the files behind it.
      if (position === offset || size === 0) {
        for await (const piece of source.read(size)) {
          sent += piece.length;
          yield encodeArchiveFrame({ type: 'data' }, piece);
        }
      }
      position += sent;
      const end: ArchiveHeader = { type: 'file-end', size: sent, sha256, isWhole: sent === size };
      yield encodeArchiveFrame(end);
    }
  } finally {
    await source.close();
  }
}

const drain = async (pieces: AsyncIterable<Uint8Array>): Promise<number> => {
  let bytes = 0;
  for await (const piece of pieces) bytes += piece.length;
  return bytes;
};

/** A stream that gives exactly as many bytes as requested, or all it has. */
const openSource = (bytes: AsyncIterable<Uint8Array>) => {
  const iterator = bytes[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array(0);
  const fill = async (): Promise<boolean> => {
    while (rest.length === 0) {
      const { value, done } = await iterator.next();
      if (done) return false;
      rest = value;
    }
    return true;
  };
  return {
    read: async function* (size: number): AsyncGenerator<Uint8Array> {
      for (let left = size; left > 0 && (await fill()); ) {
        const piece = rest.subarray(0, Math.min(left, archivePieceBytesMax));
        rest = rest.subarray(piece.length);
        left -= piece.length;
        yield piece;
      }
    },
    close: async (): Promise<void> => {
      await iterator.return?.();
    },
  };
};
