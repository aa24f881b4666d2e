/** The kinds of changes of a workspace's files. */
export const changeKinds = ['created', 'modified', 'removed'] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** The order in which a person sees changes: what is lost comes first, so that new files neither hide it nor take its room. */
const ranks: Readonly<Record<ChangeKind, number>> = { removed: 0, modified: 1, created: 2 };

type Changed = { readonly change: ChangeKind };

export const lossesFirst = (one: Changed, other: Changed): number => ranks[one.change] - ranks[other.change];
