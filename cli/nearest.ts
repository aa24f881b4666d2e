/** The word a person probably meant: the one with the fewest edits, if it is near enough to be a slip. */
const editsMax = 3;

const editDistance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
};

export const nearest = (word: string, candidates: readonly string[]): string | undefined => {
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: editDistance(word, candidate) }))
    .toSorted((one, other) => one.edits - other.edits);
  const [best] = ranked;
  const isNear = best !== undefined && best.edits <= Math.min(editsMax, Math.ceil(best.candidate.length / 2));
  return isNear ? best.candidate : undefined;
};
