/**
 * The fields of a body that a form has changed. Pure.
 *
 * A form may stay open for hours: with all of its fields it would undo what others have changed since.
 */

/** Null for a field that is no longer given. */
export const changedFields = <Fields extends object>(was: Fields, is: Fields): Partial<Fields> => {
  const [before, after] = [new Map(Object.entries(was)), new Map(Object.entries(is))];
  const names = new Set([...before.keys(), ...after.keys()]);
  const changed = [...names].filter(
    (name) => JSON.stringify(before.get(name)) !== JSON.stringify(after.get(name)),
  );
  return Object.fromEntries(changed.map((name) => [name, after.get(name) ?? null])) as Partial<Fields>;
};
