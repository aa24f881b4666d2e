/**
 * Compares two saved states of a workspace: the files that differ, with a diff of lines where both sides are text that is
 * short enough, and with what no diff shows: links, permissions, digests. Nothing but the bucket is read; a manifest that is not the one that was saved is refused.
 */

import { createHash } from 'node:crypto';
import { structuredPatch } from 'diff';
import type { CompareAnswer, CompareCall } from '#shared/contracts/sandbox-link.ts';
import type { ManifestEntry } from '#shared/domain/checkpoint.ts';
import { effectEntry } from '#shared/domain/effect-entry.ts';
import { changesBetween, type EntryChange, shownChanges } from '#shared/domain/manifest-changes.ts';
import { firstCharacters } from '#shared/domain/text.ts';
import { anotherManifest, packKey, readManifest } from './manifest.ts';
import type { BucketContext } from './obsolete-objects.ts';

/** Files that an answer names; further ones are counted. */
const namedFilesMax = 200;
const diffedFilesMax = 40;
const diffedBytesMax = 256 * 1024;
const diffLinesMax = 200;
const diffCharactersMax = 6000;
/** The cost of comparing unrelated texts grows with the product of their lengths. */
const editsMax = 1000;

export const compare = async (call: CompareCall, context: BucketContext): Promise<CompareAnswer> => {
  const between = await savedChanges(call, context);
  if (between === undefined) return anotherManifest;
  const changes = shownChanges(between.changes);
  const files = [];
  for (const [index, change] of changes.slice(0, namedFilesMax).entries()) {
    const diff = index < diffedFilesMax ? await diffOf(call.workspace, change, context) : undefined;
    files.push({ ...effectEntry(change), ...(diff === undefined ? {} : { diff }) });
  }
  return { status: 'compared', files, changes: changes.length };
};

type SavedChanges = {
  readonly changes: readonly EntryChange[];
  /** All entries of the later state. */
  readonly after: readonly ManifestEntry[];
};

/** Undefined, and reported, where a manifest is not the one that was saved. */
export const savedChanges = async (
  call: Pick<CompareCall, 'workspace' | 'before' | 'after'>,
  context: BucketContext,
): Promise<SavedChanges | undefined> => {
  const [before, after] = await Promise.all([
    entriesOf(call, call.before, context),
    entriesOf(call, call.after, context),
  ]);
  if (before !== undefined && after !== undefined) return { changes: changesBetween(before, after), after };
  context.telemetry.error('a manifest is not the one that was saved', { workspace: call.workspace });
  return undefined;
};

const entriesOf = async (
  { workspace }: Pick<CompareCall, 'workspace'>,
  ref: CompareCall['before'],
  { bucket }: Pick<BucketContext, 'bucket'>,
): Promise<readonly ManifestEntry[] | undefined> =>
  ref === undefined ? [] : (await readManifest(bucket, workspace, ref))?.entries;

/** Undefined for a binary or a long one, and for a change of the mode alone. */
const diffOf = async (
  workspace: string,
  { before, after }: EntryChange,
  { bucket }: BucketContext,
): Promise<string | undefined> => {
  const [old, now] = await Promise.all([textOf(workspace, before, bucket), textOf(workspace, after, bucket)]);
  if (old === undefined || now === undefined || old === now) return undefined;
  const patch = structuredPatch('', '', old, now, '', '', { context: 3, maxEditLength: editsMax });
  if (patch === undefined) return undefined;
  const lines = patch.hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    ...hunk.lines,
  ]);
  const shown = lines.slice(0, diffLinesMax);
  const cut = lines.length > shown.length ? [...shown, `… ${lines.length - shown.length} more lines`] : shown;
  const text = cut.join('\n');
  return text.length > diffCharactersMax ? `${firstCharacters(text, diffCharactersMax)}\n… cut` : text;
};

/** Strict: bytes that are no UTF-8 are no text. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Empty where there is no file; undefined where its content is no short text. */
const textOf = async (
  workspace: string,
  entry: ManifestEntry | undefined,
  bucket: BucketContext['bucket'],
): Promise<string | undefined> => {
  if (entry === undefined) return '';
  if (entry.type !== 'file' || entry.size > diffedBytesMax) return undefined;
  if (entry.size === 0) return '';
  const pieces: Uint8Array[] = [];
  const range = { offset: entry.offset, length: entry.size };
  for await (const piece of bucket.readRange(packKey(workspace, entry.pack), range)) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  if (createHash('sha256').update(bytes).digest('hex') !== entry.sha256 || bytes.includes(0))
    return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
};
