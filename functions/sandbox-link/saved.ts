/**
 * Reads a saved workspace without a sandbox: the list of one folder, or the bytes of one file out of its pack.
 *
 * Answers have the shapes of a sandbox's server. A file with other bytes than the saved ones fails in its middle: it
 * never ends as if it were whole.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { WorkspaceBucket } from '#shared/adapters/aws/workspace-bucket.ts';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import type { SavedCall } from '#shared/contracts/link.ts';
import { type ListedEntry, type SavedFile, savedEntryAt } from '#shared/domain/checkpoint-files.ts';
import { AppError, type ErrorCode, errorStatus } from '#shared/errors.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import { packKey, readManifest } from './manifest.ts';

export const readSaved = async (
  { workspace, manifest: ref, savedAt, want, path }: SavedCall,
  { bucket, telemetry }: { readonly bucket: WorkspaceBucket; readonly telemetry: Telemetry },
): Promise<StreamedResult> => {
  const manifest = await readManifest(bucket, workspace, ref);
  if (manifest === undefined) {
    telemetry.error('a manifest is not the one that was saved', { workspace, manifest: ref.id });
    return refused('internal_error', 'the saved workspace cannot be read');
  }
  const found = savedEntryAt(manifest.entries, path);
  if (found.kind === 'refused') return refused(found.code, found.message);
  if (found.kind !== want) return refused('invalid_request', `${JSON.stringify(path)} is a ${found.kind}`);
  if (found.kind === 'folder')
    return json(200, { files: found.entries.map((entry) => listedView(entry, savedAt)) });
  const body = Readable.toWeb(Readable.from(contentOf(bucket, workspace, found.file))) as ReadableStream;
  return { statusCode: 200, headers: { 'content-type': 'application/octet-stream' }, body };
};

/** Folders and links are saved without a time: they are no younger than the checkpoint. */
const listedView = ({ modifiedAt, ...entry }: ListedEntry, savedAt: number) => ({
  ...entry,
  modifiedAt: new Date(modifiedAt ?? savedAt).toISOString(),
});

async function* contentOf(
  bucket: WorkspaceBucket,
  workspace: string,
  { pack, offset, size, sha256 }: SavedFile,
): AsyncGenerator<Uint8Array> {
  if (size === 0) return;
  const hash = createHash('sha256');
  for await (const piece of bucket.readRange(packKey(workspace, pack), { offset, length: size })) {
    hash.update(piece);
    yield piece;
  }
  if (hash.digest('hex') !== sha256) throw new Error('a saved file does not match its hash');
}

const refused = (code: ErrorCode, message: string): StreamedResult =>
  json(errorStatus(new AppError(code, message)), { error: { code, message } });

const json = (statusCode: number, body: unknown): StreamedResult => ({
  statusCode,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
