/**
 * Manifests as they stand in the bucket: where they are, and whether one is what was saved.
 *
 * A manifest is believed because its hash is the one the caller has from the table, never because it is
 * there.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { type WorkspaceBucket, workspacePrefix } from '#shared/adapters/aws/workspace-bucket.ts';
import { decodeJson } from '#shared/contracts/decode.ts';
import type { LeftOut, Manifest, ManifestEntry, ManifestRef } from '#shared/domain/checkpoint.ts';

/** A manifest over this is not written. */
export const manifestBytesMax = 64 * 1024 * 1024;
/** Paths an answer names one by one; the rest is counted. */
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

export const packKey = (workspace: string, id: string): string => `${workspacePrefix(workspace)}packs/${id}`;

export const manifestKey = (workspace: string, id: string): string =>
  `${workspacePrefix(workspace)}manifests/${id}.json`;

export const encodeManifest = (
  manifest: Manifest,
): { readonly bytes: Uint8Array; readonly ref: ManifestRef } => {
  const bytes = Buffer.from(JSON.stringify(manifest));
  return { bytes, ref: { id: manifest.id, sha256: sha256Of(bytes) } };
};

/** `undefined` when it is not there, not the one that was saved, or of another workspace. */
export const readManifest = async (
  bucket: WorkspaceBucket,
  workspace: string,
  ref: ManifestRef,
): Promise<Manifest | undefined> => {
  const bytes = await bucket.read(manifestKey(workspace, ref.id), manifestBytesMax);
  if (bytes === undefined || sha256Of(bytes) !== ref.sha256) return undefined;
  const manifest = decodeJson(manifestSchema, Buffer.from(bytes).toString());
  return manifest.ok && manifest.value.workspace === workspace ? manifest.value : undefined;
};

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Short enough for an answer; what is not named is counted in a last line. */
export const nameSome = (slots: readonly LeftOut[]): LeftOut[] => {
  const named = slots.slice(0, namedPathsMax).map(({ path: at, reason }) => ({
    path: at.slice(0, namedPathCharactersMax),
    reason: reason.slice(0, namedPathCharactersMax),
  }));
  const more = slots.length - named.length;
  return more === 0 ? named : [...named, { path: '', reason: `and ${more} more` }];
};
