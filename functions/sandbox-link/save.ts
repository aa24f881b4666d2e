/**
 * Saves a workspace: what changed since the base becomes one pack, everything is named by a new manifest.
 *
 * The manifest is written last, so that a manifest's packs are there; whatever goes wrong before leaves no
 * object behind. Objects that the base no longer needed are deleted now, because the base stands in the
 * table and what was before it does not; objects that only the base needs wait for the next save.
 */
import type { IncomingMessage } from 'node:http';
import { type WorkspaceBucket, workspacePrefix } from '#shared/adapters/aws/workspace-bucket.ts';
import type { Upload } from '#shared/adapters/aws/workspace-upload.ts';
import { readArchive } from '#shared/contracts/archive.ts';
import type { SaveAnswer, SaveCall } from '#shared/contracts/link.ts';
import { isUnchanged, isWorthCompacting, type Manifest, withoutCopies } from '#shared/domain/checkpoint.ts';
import { AppError, isAppError } from '#shared/errors.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import {
  encodeManifest,
  manifestBytesMax,
  manifestKey,
  nameSome,
  packKey,
  readManifest,
} from './manifest.ts';
import { readLogs } from './sandbox-logs.ts';
import { readRefusal } from './sandbox-refusal.ts';
import { headersOf, openRequest } from './sandbox-request.ts';
import { type Taken, takeCheckpoint } from './take-checkpoint.ts';

export type Courier = {
  readonly target: URL;
  readonly bucket: WorkspaceBucket;
  readonly telemetry: Telemetry;
};

/** A checkpoint on which nothing moves for so long, in either direction, is given up. */
export const silenceMsMax = 120_000;

/** Throws when the sandbox or the bucket breaks off: nothing was saved. */
export const save = async (call: SaveCall, courier: Courier): Promise<SaveAnswer> => {
  if (call.base?.id === call.id) throw new Error('a checkpoint cannot be its own base');
  const known = await readBase(call, courier);
  const base = known === undefined || isWorthCompacting(known) ? undefined : known;
  const response = await openRequest({
    target: courier.target,
    method: 'GET',
    path: `/checkpoint?id=${call.id}&base=${base?.id ?? ''}`,
    headers: headersOf(call),
    silenceMsMax,
  });
  if (response.statusCode === 413) return { status: 'refused', ...(await readRefusal(response)) };
  if (response.statusCode !== 200) {
    response.destroy();
    throw new Error(`the sandbox answered ${response.statusCode}`);
  }
  const answer = await receive(response, { call, courier, known, base });
  return answer.status === 'refused' ? answer : { ...answer, logs: await readLogs(call, courier) };
};

const readBase = async (
  { workspace, base }: SaveCall,
  { bucket, telemetry }: Courier,
): Promise<Manifest | undefined> => {
  if (base === undefined) return undefined;
  const manifest = await readManifest(bucket, workspace, base);
  if (manifest === undefined)
    telemetry.warn('the base is not what was saved, so everything is saved', { workspace, base: base.id });
  return manifest;
};

type Job = {
  readonly call: SaveCall;
  readonly courier: Courier;
  /** What stands in the table, also when the sandbox was asked for everything. */
  readonly known: Manifest | undefined;
  readonly base: Manifest | undefined;
};

const receive = async (response: IncomingMessage, job: Job): Promise<SaveAnswer> => {
  const { call, courier, base } = job;
  const key = packKey(call.workspace, call.id);
  const pack = courier.bucket.upload(key);
  const begun: string[] = [];
  try {
    const sent = await takeCheckpoint(readArchive(response), base, { id: call.id, append: pack.append });
    const taken = { ...sent, entries: withoutCopies(base?.entries ?? [], sent.entries, call.id) };
    if (base !== undefined && isUnchanged(base.entries, taken.entries)) {
      await pack.abort();
      return { status: 'unchanged', logs: [] };
    }
    // A pack that no entry points to holds only what the base has, or what changed while it was read.
    if (isInUse(taken, call.id)) {
      begun.push(key);
      await pack.finish();
    } else await pack.abort();
    begun.push(manifestKey(call.workspace, call.id));
    return await writeManifest(taken, job);
  } catch (cause) {
    response.destroy();
    await undo(courier, pack, begun);
    if (isAppError(cause)) return { status: 'refused', code: cause.code, message: cause.message };
    throw cause;
  }
};

/** What stays behind costs money, not truth: no manifest in the table names it. */
const undo = async (
  { bucket, telemetry }: Courier,
  pack: Upload,
  begun: readonly string[],
): Promise<void> => {
  try {
    await pack.abort();
    await bucket.remove(begun);
  } catch (error) {
    telemetry.warn('a save that broke off left objects behind', { keys: begun, error });
  }
};

const isInUse = ({ entries }: Taken, pack: string): boolean =>
  entries.some((entry) => entry.type === 'file' && entry.pack === pack);

const writeManifest = async (taken: Taken, { call, courier, known, base }: Job): Promise<SaveAnswer> => {
  const { bucket, telemetry } = courier;
  const { workspace, id } = call;
  const packs = packsOf(taken, { ...base?.packs, [id]: taken.packBytes });
  const remaining = await removeObsolete(known, courier);
  const obsolete = [...remaining, ...supersededKeys(call, known, packs)];
  const manifest = { version: 1, id, workspace, entries: taken.entries, packs, obsolete } as const;
  const { bytes, ref } = encodeManifest(manifest);
  if (bytes.length > manifestBytesMax)
    throw new AppError(
      'resource_limit_exceeded',
      'the workspace is too large to be saved: too many long names',
    );
  await bucket.write(manifestKey(workspace, id), bytes);
  const files = taken.entries.filter((entry) => entry.type === 'file');
  const size = files.reduce((sum, file) => sum + file.size, 0);
  telemetry.info('a checkpoint was saved', {
    workspace,
    id,
    files: files.length,
    packBytes: taken.packBytes,
  });
  const leftOut = nameSome(taken.leftOut);
  return { status: 'saved', manifest: ref, files: files.length, bytes: size, leftOut, logs: [] };
};

const packsOf = ({ entries }: Taken, known: Readonly<Record<string, number>>): Record<string, number> => {
  const ids = new Set(entries.flatMap((entry) => (entry.type === 'file' && entry.pack ? [entry.pack] : [])));
  return Object.fromEntries([...ids].map((id) => [id, known[id] ?? 0]));
};

const supersededKeys = (
  { workspace, base }: SaveCall,
  known: Manifest | undefined,
  packs: Readonly<Record<string, number>>,
): string[] => {
  const dead = Object.keys(known?.packs ?? {}).filter((id) => !Object.hasOwn(packs, id));
  const manifests = base === undefined ? [] : [manifestKey(workspace, base.id)];
  return [...manifests, ...dead.map((id) => packKey(workspace, id))];
};

/** Ends with what could not be deleted: the next save tries again. */
const removeObsolete = async (
  known: Manifest | undefined,
  { bucket, telemetry }: Courier,
): Promise<readonly string[]> => {
  if (known === undefined) return [];
  const keys = known.obsolete.filter((key) => key.startsWith(workspacePrefix(known.workspace)));
  if (keys.length === 0) return [];
  try {
    await bucket.remove(keys);
    return [];
  } catch (error) {
    telemetry.warn('objects that nobody needs could not be deleted', { workspace: known.workspace, error });
    return keys;
  }
};
