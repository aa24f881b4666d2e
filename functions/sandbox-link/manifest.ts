/**
 * Manifests in the bucket: their keys, their encoding, and the ranges of packs that they point into.
 *
 * A manifest is trusted because its hash is the one of the table, never because it is there.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { WorkspaceBucket } from '#shared/adapters/aws/workspace-bucket.ts';
import { workspacePrefix } from '#shared/adapters/aws/workspace-prefix.ts';
import { decodeJson } from '#shared/contracts/decode.ts';
import type { LeftOut, Manifest, ManifestEntry, ManifestRef } from '#shared/domain/checkpoint.ts';
import { manifestObject, packObject, packOf, seenFrom } from '#shared/domain/pack-names.ts';

/** A larger manifest is not written. */
export const manifestBytesMax = 64 * 1024 * 1024;
/** Paths that an answer names one by one; further ones are counted. */
const namedPathsMax = 1000;
const namedPathCharactersMax = 4096;

export type FileEntry = Extract<ManifestEntry, { type: 'file' }>;

const count = z.number().int().min(0);
const path = z.string().min(1);
const manifestSchema = z.object({
  version: z.literal(1),
  id: z.string(),
  workspace: z.string(),
  entries: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('directory'), path, mode: count }),
      z.object({ type: z.literal('symlink'), path, target: z.string() }),
      z.object({
        type: z.literal('file'),
        path,
        mode: count,
        mtimeMs: z.number(),
        size: count,
        sha256: z.string(),
        pack: z.string(),
        offset: count,
      }),
    ]),
  ),
  packs: z.record(z.string(), count),
  obsolete: z.array(z.string()),
});

/** The key of a pack as a manifest of this workspace names it. */
export const packKey = (workspace: string, name: string): string => {
  const pack = packOf(workspace, name);
  return `${workspacePrefix(pack.workspace)}${packObject(pack.id)}`;
};

export const manifestKey = (workspace: string, id: string): string =>
  `${workspacePrefix(workspace)}${manifestObject(id)}`;

export const encodeManifest = (
  manifest: Manifest,
): { readonly bytes: Uint8Array; readonly ref: ManifestRef } => {
  const bytes = Buffer.from(JSON.stringify(manifest));
  return { bytes, ref: { id: manifest.id, sha256: sha256Of(bytes) } };
};

/**
 * A manifest as `workspace` sees it, which need not own it. Undefined when it is not there, not the one that was
 * saved, or of another owner than the reference says.
 */
export const readManifest = async (
  bucket: WorkspaceBucket,
  workspace: string,
  ref: ManifestRef,
): Promise<Manifest | undefined> => {
  const owner = ref.workspace ?? workspace;
  const bytes = await bucket.read(manifestKey(owner, ref.id), manifestBytesMax);
  if (bytes === undefined || sha256Of(bytes) !== ref.sha256) return undefined;
  const manifest = decodeJson(manifestSchema, Buffer.from(bytes).toString());
  return manifest.ok && manifest.value.workspace === owner ? seenFrom(manifest.value, workspace) : undefined;
};

/** The answer where `readManifest` found none. */
export const anotherManifest = {
  status: 'refused',
  reason: 'the manifest is not the one that was saved',
} as const;

/** The numbers of an answer about a manifest. */
export const countFiles = ({ entries, packs }: Pick<Manifest, 'entries' | 'packs'>) => {
  const files = entries.filter((entry) => entry.type === 'file');
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  return { files: files.length, bytes, packs: Object.keys(packs) };
};

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Short enough for an answer; the last line counts what it does not name. */
export const nameSome = (entries: readonly LeftOut[]): LeftOut[] => {
  const named = entries.slice(0, namedPathsMax).map(({ path: at, reason }) => ({
    path: at.slice(0, namedPathCharactersMax),
    reason: reason.slice(0, namedPathCharactersMax),
  }));
  const more = entries.length - named.length;
  return more === 0 ? named : [...named, { path: '', reason: `and ${more} more` }];
};

/** One range of one pack, with its files in the order of their bytes. */
export type PackRun = {
  readonly pack: string;
  readonly offset: number;
  readonly length: number;
  readonly files: readonly FileEntry[];
};

/** Dead bytes between two files up to which one range is read instead of two. */
const gapBytesMax = 8 * 1024 * 1024;

/** As few ranges as possible without reading many dead bytes. */
export const planPackRuns = (entries: readonly ManifestEntry[]): readonly PackRun[] => {
  const files = entries.filter((entry) => entry.type === 'file');
  return [...Map.groupBy(files, ({ pack }) => pack)].flatMap(([pack, ofPack]) =>
    splitAtGaps(ofPack.toSorted((a, b) => a.offset - b.offset)).map((group) => runOf(pack, group)),
  );
};

const endOf = ({ offset, size }: FileEntry): number => offset + size;

const splitAtGaps = (sorted: readonly FileEntry[]): FileEntry[][] => {
  const groups: FileEntry[][] = [];
  let end = 0;
  for (const file of sorted) {
    const group = groups.at(-1);
    if (group === undefined || file.offset - end > gapBytesMax) groups.push([file]);
    else group.push(file);
    end = endOf(file);
  }
  return groups;
};

const runOf = (pack: string, files: readonly FileEntry[]): PackRun => {
  const offset = files[0]?.offset ?? 0;
  const end = files.reduce((last, file) => Math.max(last, endOf(file)), offset);
  return { pack, offset, length: end - offset, files };
};
