/** The order in which a tree of sessions is shown: each session before those that its agent started. */

/** A session with its place: levels below the top, and the number of sessions below it. */
export type TreeRow<S> = { readonly session: S; readonly level: number; readonly below: number };

type Member = { readonly id: string; readonly parent?: string | undefined };

/** The first is the top; one whose parent is not among them is left out. */
export const inTreeOrder = <S extends Member>(sessions: readonly S[]): readonly TreeRow<S>[] => {
  const [top] = sessions;
  const byParent = Map.groupBy(sessions.slice(1), ({ parent }) => parent);
  const rowsOf = (session: S, level: number): readonly TreeRow<S>[] => {
    const below = (byParent.get(session.id) ?? []).flatMap((child) => rowsOf(child, level + 1));
    return [{ session, level, below: below.length }, ...below];
  };
  return top === undefined ? [] : rowsOf(top, 0);
};
