/**
 * Objects that a checkpoint no longer needs, deleted in two steps: a manifest names what it made obsolete, and the
 * save after it deletes that, once the table names the manifest.
 *
 * Objects of another workspace are never deleted here, nor those that a snapshot or a fork needs: the end of its pin
 * deletes them (docs/spec/snapshots.md). Those that a kept checkpoint needs are named again.
 */
import type { WorkspaceBucket } from '#shared/adapters/aws/workspace-bucket.ts';
import { workspacePrefix } from '#shared/adapters/aws/workspace-prefix.ts';
import type { SaveCall } from '#shared/contracts/sandbox-link.ts';
import type { Manifest } from '#shared/domain/checkpoint.ts';
import { isOwnPack } from '#shared/domain/pack-names.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import { manifestKey, packKey } from './manifest.ts';

type Next = Pick<SaveCall, 'workspace' | 'base' | 'obsolete'> & {
  /** The manifest that the table names. */
  readonly known: Manifest | undefined;
  /** Of the manifest that follows it. */
  readonly packs: Readonly<Record<string, number>>;
};

export type BucketContext = { readonly bucket: WorkspaceBucket; readonly telemetry: Telemetry };

/** Deletes what the known manifest names, and returns what the next one must name. */
export const nextObsolete = async (next: Next, context: BucketContext): Promise<readonly string[]> => {
  const remaining = await removeObsolete(next, context);
  return [...new Set([...remaining, ...supersededKeys(next)])];
};

const supersededKeys = ({ workspace, base, known, packs }: Next): string[] => {
  const dead = Object.keys(known?.packs ?? {}).filter(
    (name) => isOwnPack(name) && !Object.hasOwn(packs, name),
  );
  const isOwn = base !== undefined && (base.workspace ?? workspace) === workspace;
  return [
    ...(isOwn ? [manifestKey(workspace, base.id)] : []),
    ...dead.map((name) => packKey(workspace, name)),
  ];
};

/** Returns the keys that were not deleted: the next save tries again. */
const removeObsolete = async (
  { workspace, known, packs, obsolete: rule = { kept: [] } }: Next,
  { bucket, telemetry }: BucketContext,
): Promise<readonly string[]> => {
  const prefix = workspacePrefix(workspace);
  const needed = new Set(Object.keys(packs).map((name) => packKey(workspace, name)));
  const named = known?.obsolete.filter((key) => key.startsWith(prefix) && !needed.has(key)) ?? [];
  if (rule === 'later') return named;
  const under = (objects: readonly string[]) => new Set(objects.map((object) => `${prefix}${object}`));
  const held = under(rule.held ?? []);
  const kept = under(rule.kept);
  const later = named.filter((key) => held.has(key));
  const keys = named.filter((key) => !held.has(key) && !kept.has(key));
  if (keys.length === 0) return later;
  try {
    await bucket.remove(keys);
    return later;
  } catch (error) {
    telemetry.warn('obsolete objects could not be deleted', { workspace, error });
    return [...later, ...keys];
  }
};
