/**
 * Saves a workspace: contents that changed since the base become one pack, and a new manifest names every entry.
 *
 * The manifest is written last, so that its packs exist; a failure before leaves no object behind. Log lines of the
 * sandbox come with a save; without them the save still counts.
 */
import type { IncomingMessage } from 'node:http';
import type { WorkspaceBucket } from '#shared/adapters/aws/workspace-bucket.ts';
import type { Upload } from '#shared/adapters/aws/workspace-upload.ts';
import { readArchive } from '#shared/contracts/archive.ts';
import { decode } from '#shared/contracts/decode.ts';
import { logNumberTrailer } from '#shared/contracts/sandbox-call.ts';
import { type SaveAnswer, type SaveCall, sandboxLogPage } from '#shared/contracts/sandbox-link.ts';
import { isUnchanged, isWorthCompacting, type Manifest, withoutCopies } from '#shared/domain/checkpoint.ts';
import { changesBetween } from '#shared/domain/manifest-changes.ts';
import { AppError, isAppError } from '#shared/errors.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import {
  countFiles,
  encodeManifest,
  manifestBytesMax,
  manifestKey,
  nameSome,
  packKey,
  readManifest,
} from './manifest.ts';
import { nextObsolete } from './obsolete-objects.ts';
import { type ReceivedCheckpoint, receiveCheckpoint } from './receive-checkpoint.ts';
import type { RecentManifests } from './recent-manifests.ts';
import {
  expectStatus,
  headersOf,
  isOverBounds,
  openRequest,
  readJson,
  readRefusal,
} from './request-to-sandbox.ts';
import { settle } from './settle.ts';

export type LinkContext = {
  readonly target: URL;
  readonly bucket: WorkspaceBucket;
  readonly telemetry: Telemetry;
  /** Absent: each base is read. */
  readonly recent?: RecentManifests;
};

/** A checkpoint without a byte in either direction for this long is given up. */
export const silenceMsMax = 120_000;

/** Throws when the sandbox or the bucket fails: nothing was saved. */
export const save = async (call: SaveCall, context: LinkContext): Promise<SaveAnswer> => {
  if (call.base?.id === call.id) throw new Error('a checkpoint cannot be its own base');
  const known = await readBase(call, context);
  const base = known === undefined || isWorthCompacting(known) ? undefined : known;
  const response = await openRequest({
    target: context.target,
    method: 'GET',
    path: `/checkpoint?id=${call.id}&base=${base?.id ?? ''}`,
    headers: headersOf(call),
    silenceMsMax,
  });
  if (isOverBounds(response)) return { status: 'refused', ...(await readRefusal(response)) };
  expectStatus(response, 200);
  const answer = await receive(response, { call, context, known, base });
  if (answer.status === 'refused' || !mayHaveLines(response, call)) return answer;
  return { ...answer, logs: await readLogs(call, context) };
};

const readBase = async (
  { workspace, base }: SaveCall,
  { bucket, telemetry, recent }: LinkContext,
): Promise<Manifest | undefined> => {
  if (base === undefined) return undefined;
  const held = recent?.get(workspace, base);
  if (held !== undefined) return held;
  const manifest = await readManifest(bucket, workspace, base);
  if (manifest !== undefined) recent?.hold(base, manifest);
  else
    telemetry.warn('the base differs from the last save, so everything is saved', {
      workspace,
      base: base.id,
    });
  return manifest;
};

type Job = {
  readonly call: SaveCall;
  readonly context: LinkContext;
  /** The manifest that the table names, also when everything is requested of the sandbox. */
  readonly known: Manifest | undefined;
  readonly base: Manifest | undefined;
};

const receive = async (response: IncomingMessage, job: Job): Promise<SaveAnswer> => {
  const { call, context, base } = job;
  const key = packKey(call.workspace, call.id);
  const pack = context.bucket.upload(key);
  const begun: string[] = [];
  try {
    const sent = await receiveCheckpoint(readArchive(response), base, { id: call.id, append: pack.append });
    const received = { ...sent, entries: withoutCopies(base?.entries ?? [], sent.entries, call.id) };
    if (base !== undefined && isUnchanged(base.entries, received.entries)) {
      await pack.abort();
      // It sent files that it could not tell from others; their stats are those of the base from now on.
      if (received.sentFiles > 0) await settle(call, context, `/settle?id=${call.id}&as=${base.id}`);
      return { status: 'unchanged', leftOut: nameSome(received.leftOut), logs: [] };
    }
    // A pack that no entry points to holds only contents that the base has, or that changed while they were read.
    if (isInUse(received, call.id)) {
      begun.push(key);
      await pack.finish();
    } else await pack.abort();
    begun.push(manifestKey(call.workspace, call.id));
    return await writeManifest(received, job);
  } catch (cause) {
    response.destroy();
    await undo(context, pack, begun);
    if (isAppError(cause)) return { status: 'refused', code: cause.code, message: cause.message };
    throw cause;
  }
};

/** An object that stays behind does no harm: no manifest in the table names it. */
const undo = async (
  { bucket, telemetry }: LinkContext,
  pack: Upload,
  begun: readonly string[],
): Promise<void> => {
  try {
    await pack.abort();
    await bucket.remove(begun);
  } catch (error) {
    telemetry.warn('an interrupted save left objects behind', { keys: begun, error });
  }
};

const isInUse = ({ entries }: ReceivedCheckpoint, pack: string): boolean =>
  entries.some((entry) => entry.type === 'file' && entry.pack === pack);

const writeManifest = async (
  received: ReceivedCheckpoint,
  { call, context, known, base }: Job,
): Promise<SaveAnswer> => {
  const { bucket, telemetry } = context;
  const { workspace, id } = call;
  const packs = packsOf(received, { ...base?.packs, [id]: received.packBytes });
  const obsolete = await nextObsolete({ ...call, known, packs }, context);
  const manifest = { version: 1, id, workspace, entries: received.entries, packs, obsolete } as const;
  const { bytes, ref } = encodeManifest(manifest);
  if (bytes.length > manifestBytesMax)
    throw new AppError(
      'resource_limit_exceeded',
      'the workspace is too large to be saved: too many long names',
    );
  await bucket.write(manifestKey(workspace, id), bytes);
  context.recent?.hold(ref, manifest);
  const counted = countFiles(manifest);
  telemetry.info('a checkpoint was saved', {
    workspace,
    id,
    files: counted.files,
    packBytes: received.packBytes,
  });
  const leftOut = nameSome(received.leftOut);
  const isSame = known !== undefined && changesBetween(known.entries, received.entries).length === 0;
  const same = isSame ? { hasSameFiles: true as const } : {};
  return { status: 'saved', manifest: ref, ...counted, ...same, leftOut, logs: [] };
};

const packsOf = (
  { entries }: ReceivedCheckpoint,
  known: Readonly<Record<string, number>>,
): Record<string, number> => {
  const ids = new Set(entries.flatMap((entry) => (entry.type === 'file' && entry.pack ? [entry.pack] : [])));
  return Object.fromEntries([...ids].map((id) => [id, known[id] ?? 0]));
};

/** The trailer of the checkpoint tells; the sandbox of an earlier release has none. */
const mayHaveLines = ({ trailers }: IncomingMessage, { logsAfter }: SaveCall): boolean => {
  const newest = trailers[logNumberTrailer];
  return newest === undefined || !/^\d{1,15}$/.test(newest) || Number(newest) > logsAfter;
};

const logBytesMax = 256 * 1024;
const logSilenceMsMax = 10_000;

const readLogs = async (call: SaveCall, { target, telemetry }: LinkContext) => {
  try {
    const response = await openRequest({
      target,
      method: 'GET',
      path: `/logs?after=${call.logsAfter}`,
      headers: headersOf(call),
      silenceMsMax: logSilenceMsMax,
    });
    const page = decode(sandboxLogPage, await readJson(response, logBytesMax));
    if (page.ok) return page.value.lines;
    telemetry.warn('the logs of a sandbox cannot be read', { problem: page.problem });
  } catch (error) {
    telemetry.warn('the logs of a sandbox were not reached', { error });
  }
  return [];
};
