/** The bucket of the simulated world: manifests, and the packs that they point into, as the link writes and deletes them. */
import type { ManifestRef } from '#shared/domain/checkpoint.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { isOwnPack, manifestObject, packObject, packOf } from '#shared/domain/pack-names.ts';
import type { ObsoleteObjects } from '#shared/ports/workspace-archive.ts';
import type { Line } from './machine.ts';

export type Manifest = {
  readonly id: string;
  readonly base: string | undefined;
  readonly workspaceId: WorkspaceId;
  readonly lines: readonly Line[];
  /** Named as in `shared/domain/pack-names.ts`. */
  readonly packs: readonly string[];
  /** Objects that this one made obsolete: the next save deletes them. */
  readonly obsolete: readonly string[];
};

/** With more packs a save writes everything into one. */
const packsMax = 3;

type OnDeleted = (workspaceId: WorkspaceId, object: string) => void;

type Next = {
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  /** The manifest that the table names. */
  readonly known: Manifest | undefined;
  readonly lines: readonly Line[];
  readonly rule: ObsoleteObjects | undefined;
  /** Packs of an adopted manifest, as this workspace names them; absent: those of a save. */
  readonly packs?: readonly string[];
  readonly deletes: boolean;
};

export class Bucket extends Map<string, Manifest> {
  readonly #packs = new Set<string>();
  readonly #onDeleted: OnDeleted;

  constructor(onDeleted: OnDeleted) {
    super();
    this.#onDeleted = onDeleted;
  }

  /** The packs of a manifest as another workspace names them. */
  packsFor(workspaceId: WorkspaceId, { workspaceId: owner, packs }: Manifest): readonly string[] {
    return packs.map((name) => {
      const { workspace, id } = packOf(owner, name);
      return workspace === workspaceId ? id : `${workspace}/${id}`;
    });
  }

  /** True when a manifest is there with all of its packs. */
  isWhole({ workspaceId, packs }: Manifest): boolean {
    return packs.every((name) => {
      const { workspace, id } = packOf(workspaceId, name);
      return this.#packs.has(`${workspace}/${id}`);
    });
  }

  find(ref: ManifestRef | undefined): Manifest | undefined {
    return ref && this.get(ref.id);
  }

  /** As `save.ts` and `adopt.ts` of the link. */
  write({ id, workspaceId, known, lines, rule, deletes, ...adopted }: Next): Manifest {
    const before = known === undefined ? [] : this.packsFor(workspaceId, known);
    const packs = adopted.packs ?? (before.length > packsMax ? [id] : [...before, id]);
    if (adopted.packs === undefined) this.#packs.add(`${workspaceId}/${id}`);
    const remaining = this.#removeObsolete({ workspaceId, known, rule, packs, deletes });
    const superseded = before.filter((name) => isOwnPack(name) && !packs.includes(name)).map(packObject);
    if (known?.workspaceId === workspaceId) superseded.push(manifestObject(known.id));
    const obsolete = [...new Set([...remaining, ...superseded])];
    const manifest = { id, base: known?.id, workspaceId, lines, packs, obsolete };
    this.set(id, manifest);
    return manifest;
  }

  #removeObsolete({
    workspaceId,
    known,
    rule = { kept: [] },
    packs,
    deletes,
  }: Pick<Next, 'workspaceId' | 'known' | 'rule' | 'deletes'> & { readonly packs: readonly string[] }) {
    const needed = packs.map(packObject);
    const named = known?.workspaceId === workspaceId ? known.obsolete : [];
    const left = named.filter((object) => !needed.includes(object));
    if (rule === 'later') return left;
    const { kept, held = [] } = rule;
    const heldLeft = left.filter((object) => held.includes(object));
    const wanted = left.filter((object) => !held.includes(object) && !kept.includes(object));
    if (!deletes) return [...heldLeft, ...wanted];
    this.removeObjects(workspaceId, wanted);
    return heldLeft;
  }

  removeObjects(workspaceId: WorkspaceId, objects: readonly string[]): void {
    for (const object of objects) if (this.#remove(workspaceId, object)) this.#onDeleted(workspaceId, object);
  }

  #remove(workspaceId: WorkspaceId, object: string): boolean {
    const [kind, name = ''] = object.split('/');
    if (kind === 'packs') return this.#packs.delete(`${workspaceId}/${name}`);
    const id = name.replace('.json', '');
    return this.get(id)?.workspaceId === workspaceId && this.delete(id);
  }

  /** Everything of a workspace. */
  objectsOf(workspaceId: WorkspaceId): readonly string[] {
    const manifests = [...this.values()].filter((one) => one.workspaceId === workspaceId);
    const packs = [...this.#packs].filter((key) => key.startsWith(`${workspaceId}/`));
    return [
      ...manifests.map(({ id }) => manifestObject(id)),
      ...packs.map((key) => packObject(key.slice(key.indexOf('/') + 1))),
    ];
  }

  /** The workspaces of which anything is left. */
  owners(): readonly WorkspaceId[] {
    const owners = [...this.#packs].map((key) => key.slice(0, key.indexOf('/')) as WorkspaceId);
    return [...new Set([...[...this.values()].map(({ workspaceId }) => workspaceId), ...owners])];
  }
}
