/**
 * Restores an owner's shared volume into a sandbox that starts: every object of the owner's folder, with its hash.
 *
 * Nothing in the sandbox is deleted. An object that is no entry, over the bounds or not what was stored is named as
 * missing. An object that is deleted after the listing is neither sent nor missing.
 */
import { randomUUID } from 'node:crypto';
import { sharedPrefix } from '#shared/adapters/aws/shared-bucket.ts';
import { archivePieceBytesMax, encodeArchiveFrame } from '#shared/contracts/archive.ts';
import type { RestoreAnswer, RestoreCall, SharedRestored } from '#shared/contracts/sandbox-link.ts';
import {
  type Missing,
  sharedEntriesMax,
  wholeFileBytesMax,
  workspaceBytesMax,
} from '#shared/domain/checkpoint.ts';
import { isAppError } from '#shared/errors.ts';
import { madeAhead } from './bounded-work.ts';
import { nameSome } from './manifest.ts';
import { sendArchive } from './restore.ts';
import { entryOf, pathOf, type SharedEntry } from './shared-object.ts';
import type { SharedLinkContext } from './shared-save.ts';

/** Objects that are read ahead; each holds at most `wholeFileBytesMax` in memory. */
const readsAheadMax = 8;

/** Adds the outcome of the shared volume to the answer of a restore; it never changes that of the workspace. */
export const withSharedRestored = async (
  call: RestoreCall,
  context: SharedLinkContext,
  answer: RestoreAnswer,
): Promise<RestoreAnswer> => {
  if (call.shared === undefined) return answer;
  try {
    const shared = await restoreShared(call, call.shared.owner, context);
    return shared === undefined ? answer : { ...answer, shared };
  } catch (error) {
    context.telemetry.warn('a shared volume was not restored', { workspace: call.workspace, error });
    const sharedFailed = isAppError(error)
      ? error.message
      : 'the restore of the shared volume was interrupted';
    return { ...answer, sharedFailed };
  }
};

type Listed = { readonly key: string; readonly path: string; readonly size: number };
type Sent = { bytes: number; readonly missing: Missing[] };

const restoreShared = async (
  call: RestoreCall,
  owner: string,
  context: SharedLinkContext,
): Promise<SharedRestored | undefined> => {
  const sent: Sent = { bytes: 0, missing: [] };
  const listed = await list(sharedPrefix(owner), context, sent.missing);
  const answer = await sendArchive(call, context, {
    path: `/shared/restore?id=${randomUUID()}&claim=${call.claim}`,
    frames: framesOf(listed, context, sent),
  });
  if (answer === undefined) return undefined;
  const missing = nameSome([...sent.missing, ...answer.missing]);
  context.telemetry.info('a shared volume was restored', { files: answer.files, bytes: sent.bytes });
  return { files: answer.files, bytes: sent.bytes, missing };
};

const list = async (
  prefix: string,
  { sharedBucket }: SharedLinkContext,
  missing: Missing[],
): Promise<readonly Listed[]> => {
  const listed: Listed[] = [];
  let bytes = 0;
  for await (const { key, size } of sharedBucket.list(prefix)) {
    const path = pathOf(prefix, key);
    if (missing.length >= sharedEntriesMax) break;
    if (path === undefined)
      missing.push({ path: key.slice(prefix.length), reason: 'its name is not a path' });
    else if (listed.length >= sharedEntriesMax)
      missing.push({ path, reason: `the volume has more than ${sharedEntriesMax} files and folders` });
    else if (bytes + size > workspaceBytesMax)
      missing.push({ path, reason: `the volume has more than ${workspaceBytesMax} bytes` });
    else {
      listed.push({ key, path, size });
      bytes += size;
    }
  }
  return listed;
};

/** A folder's key comes before those of its content. Links come last: no content ever goes through a link. */
async function* framesOf(
  listed: readonly Listed[],
  context: SharedLinkContext,
  sent: Sent,
): AsyncGenerator<Uint8Array> {
  const links: { readonly path: string; readonly target: string }[] = [];
  const fetched = madeAhead(listed, readsAheadMax, (one) => fetchObject(one, context));
  yield encodeArchiveFrame({ type: 'begin', isFull: true });
  for await (const one of fetched) {
    const { path } = one.object;
    if (one.entry === undefined) sent.missing.push({ path, reason: 'it was not written by a sandbox' });
    else if (one.entry === 'not-found') continue;
    else if (one.entry.type === 'symlink') links.push({ path, target: one.entry.target });
    else if (one.entry.type === 'directory') yield encodeArchiveFrame({ path, ...one.entry });
    else yield* framesOfFile({ ...one, entry: one.entry }, context, sent);
  }
  for (const link of links) yield encodeArchiveFrame({ type: 'symlink', ...link });
  yield encodeArchiveFrame({ type: 'end' });
}

type FetchedFile = Omit<Fetched, 'entry'> & {
  readonly entry: Extract<SharedEntry, { type: 'file' }>;
};

async function* framesOfFile(
  { object: { path, key, size }, entry, bytes }: FetchedFile,
  { sharedBucket }: SharedLinkContext,
  sent: Sent,
): AsyncGenerator<Uint8Array> {
  yield encodeArchiveFrame({ path, size, ...entry });
  const content = bytes === undefined ? sharedBucket.readRange(key, { offset: 0, length: size }) : [bytes];
  let length = 0;
  for await (const piece of inPieces(content)) {
    length += piece.length;
    yield encodeArchiveFrame({ type: 'data' }, piece);
  }
  sent.bytes += length;
  const { sha256 } = entry;
  yield encodeArchiveFrame({ type: 'file-end', size: length, sha256, isWhole: length === size });
}

type Fetched = {
  readonly object: Listed;
  readonly entry: SharedEntry | 'not-found' | undefined;
  /** Of a small file. */
  readonly bytes?: Uint8Array;
};

const fetchObject = async (object: Listed, { sharedBucket }: SharedLinkContext): Promise<Fetched> => {
  const { key, size } = object;
  if (size > wholeFileBytesMax) {
    const found = await sharedBucket.look(key);
    if (found === undefined) return { object, entry: 'not-found' };
    return { object: { ...object, size: found.size }, entry: entryOf(found.words) };
  }
  // It may have grown since the listing.
  const found = await sharedBucket.take(key, 2 * wholeFileBytesMax);
  if (found === undefined) return { object, entry: 'not-found' };
  return { object: { ...object, size: found.bytes.length }, entry: entryOf(found.words), bytes: found.bytes };
};

/** Bytes in pieces that fit into one frame of an archive. */
async function* inPieces(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += archivePieceBytesMax)
      yield chunk.subarray(at, at + archivePieceBytesMax);
}
