/**
 * Names of packs across workspaces: `<id>` is a pack of the manifest's own workspace, `<workspace>/<id>` one of
 * another. A fork shares the packs of its source in this way, without a copy.
 */
import type { Checkpoint, Manifest, ManifestRef } from './checkpoint.ts';
import type { WorkspaceId } from './ids.ts';

type PackName = { readonly workspace: WorkspaceId; readonly id: string };

/** The pack that a manifest of this workspace means by a name. */
export const packOf = (manifestOwner: string, name: string): PackName => {
  const slash = name.indexOf('/');
  return slash < 0
    ? { workspace: manifestOwner as WorkspaceId, id: name }
    : { workspace: name.slice(0, slash) as WorkspaceId, id: name.slice(slash + 1) };
};

export const isOwnPack = (name: string): boolean => !name.includes('/');

/** The name of the same pack in a manifest of `to`; files without content are in none (''). */
const renamed = (name: string, from: string, to: string): string => {
  if (name === '') return name;
  const { workspace, id } = packOf(from, name);
  return workspace === to ? id : `${workspace}/${id}`;
};

/** The same entries and packs, named as in a manifest of `to`; what its own workspace finds obsolete is not `to`'s. */
export const seenFrom = (manifest: Manifest, to: string): Manifest => {
  const { workspace: from, entries, packs } = manifest;
  if (from === to) return manifest;
  return {
    ...manifest,
    workspace: to,
    entries: entries.map((entry) =>
      entry.type === 'file' ? { ...entry, pack: renamed(entry.pack, from, to) } : entry,
    ),
    packs: Object.fromEntries(Object.entries(packs).map(([name, bytes]) => [renamed(name, from, to), bytes])),
    obsolete: [],
  };
};

/** The names of a workspace's objects below its prefix in the bucket. */
export const manifestObject = (id: string): string => `manifests/${id}.json`;
export const packObject = (id: string): string => `packs/${id}`;

type Named = ManifestRef & Pick<Checkpoint, 'packs'>;

/** The objects that a checkpoint of this workspace needs, by the workspace that owns them. */
export const objectsOf = (
  checkpointOwner: WorkspaceId,
  { id, workspace = checkpointOwner, packs }: Named,
): ReadonlyMap<WorkspaceId, readonly string[]> => {
  const objects = new Map<WorkspaceId, string[]>([[workspace, [manifestObject(id)]]]);
  for (const name of packs) {
    const pack = packOf(workspace, name);
    objects.set(pack.workspace, [...(objects.get(pack.workspace) ?? []), packObject(pack.id)]);
  }
  return objects;
};
