/**
 * The manifests that this instance read or wrote last: the next save of a workspace in use has one of them as its base.
 *
 * A manifest never changes, and the table names it by its hash. Its object may still be lost, which a save repairs; for that
 * reason none is held for longer than a minute. Manifests with many entries are not held, nor those that another workspace
 * owns.
 */
import type { Manifest, ManifestRef } from '#shared/domain/checkpoint.ts';

const heldMs = 60_000;
const manifestsMax = 16;
/** Of one manifest; all that are held take some megabytes at most. */
const entriesMax = 200;

export type RecentManifests = {
  readonly get: (workspace: string, ref: ManifestRef) => Manifest | undefined;
  readonly hold: (ref: ManifestRef, manifest: Manifest) => void;
};

/** `now` in epoch milliseconds. */
export const openRecentManifests = (now: () => number): RecentManifests => {
  const held = new Map<string, { readonly manifest: Manifest; readonly until: number }>();
  const keyOf = (workspace: string, { id, sha256 }: ManifestRef): string => `${workspace}/${id}/${sha256}`;
  return {
    get: (workspace, ref) => {
      if (ref.workspace !== undefined && ref.workspace !== workspace) return undefined;
      const known = held.get(keyOf(workspace, ref));
      return known !== undefined && now() < known.until ? known.manifest : undefined;
    },
    hold: (ref, manifest) => {
      if (manifest.entries.length > entriesMax) return;
      const [oldest] = held.keys();
      if (held.size >= manifestsMax && oldest !== undefined) held.delete(oldest);
      held.set(keyOf(manifest.workspace, ref), { manifest, until: now() + heldMs });
    },
  };
};
