/**
 * Writes a manifest of a workspace with the contents of another manifest, without a sandbox: a restored snapshot. No
 * content is copied, since the new manifest points into the same packs.
 */
import type { AdoptAnswer, AdoptCall } from '#shared/contracts/sandbox-link.ts';
import type { Manifest } from '#shared/domain/checkpoint.ts';
import { anotherManifest, countFiles, encodeManifest, manifestKey, readManifest } from './manifest.ts';
import { type BucketContext, nextObsolete } from './obsolete-objects.ts';

/** Throws when the bucket fails: the table names no other checkpoint then. */
export const adopt = async (call: AdoptCall, context: BucketContext): Promise<AdoptAnswer> => {
  const { bucket, telemetry } = context;
  const { workspace, id, from, base } = call;
  const source = from === undefined ? empty : await readManifest(bucket, workspace, from);
  if (source === undefined) {
    telemetry.error('a manifest is not the one that was saved', { workspace, manifest: from?.id });
    return anotherManifest;
  }
  const { entries, packs } = source;
  const known = base && (await readManifest(bucket, workspace, base));
  const obsolete = await nextObsolete({ ...call, known, packs }, context);
  const manifest: Manifest = { version: 1, id, workspace, entries, packs, obsolete };
  const { bytes, ref } = encodeManifest(manifest);
  await bucket.write(manifestKey(workspace, id), bytes);
  telemetry.info('a manifest was adopted', { workspace, id, from: from?.id });
  return { status: 'adopted', manifest: ref, ...countFiles(manifest) };
};

const empty: Pick<Manifest, 'entries' | 'packs'> = { entries: [], packs: {} };
