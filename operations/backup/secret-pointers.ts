/**
 * Pointers of projects to their bundles of secrets, among the items of the table (docs/adr/0009-secrets-are-sealed-bundles.md).
 *
 * A project whose pointer names a bundle that does not exist cannot use its secrets, and its sessions fail. So a backup keeps the
 * bundles that its items name, and a restore points at no other.
 */
import type { Item } from './table-copy.ts';

const projectPrefix = 'PROJECT#';

type Pointer = { readonly project: string; readonly current: string };

const pointerIn = ({ pk, sk, current }: Item): Pointer | undefined =>
  sk?.S === 'SECRETS' && current?.S !== undefined && pk?.S?.startsWith(projectPrefix)
    ? { project: pk.S.slice(projectPrefix.length), current: current.S }
    : undefined;

/** Bundles that the items of a table name, by their projects. */
export const collectPointers = (): {
  readonly see: (item: Item) => void;
  readonly bundles: ReadonlyMap<string, string>;
} => {
  const bundles = new Map<string, string>();
  const see = (item: Item): void => {
    const pointer = pointerIn(item);
    if (pointer !== undefined) bundles.set(pointer.project, pointer.current);
  };
  return { see, bundles };
};

export type PointerRepair = {
  /** The item as it is, or the pointer of a project without secrets. */
  readonly repaired: (item: Item) => Promise<Item>;
  /** A line for each project that has lost its secrets: its name, its id, and theirs. */
  readonly lost: () => readonly string[];
};

export const repairPointers = (isThere: (bundle: string) => Promise<boolean>): PointerRepair => {
  const names = new Map<string, string>();
  const lost = new Map<string, readonly string[]>();
  const repaired = async (item: Item): Promise<Item> => {
    const { pk, sk, name } = item;
    if (sk?.S === 'META' && name?.S !== undefined && pk?.S?.startsWith(projectPrefix))
      names.set(pk.S.slice(projectPrefix.length), name.S);
    const pointer = pointerIn(item);
    if (pointer === undefined || (await isThere(pointer.current))) return item;
    lost.set(
      pointer.project,
      (item['names']?.L ?? []).flatMap(({ S }) => S ?? []),
    );
    // Its litter is retained: the next change deletes those bundles, if they exist.
    return {
      ...Object.fromEntries(Object.entries(item).filter(([key]) => key !== 'current')),
      names: { L: [] },
    };
  };
  const lineOf = ([project, secrets]: readonly [string, readonly string[]]): string =>
    `${names.get(project) ?? 'project'} (${project}): ${secrets.join(', ')}`;
  return { repaired, lost: () => [...lost].map(lineOf).toSorted() };
};
