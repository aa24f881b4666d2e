/**
 * Makes a schema when it is first used: the schemas of all records take a fifth of the time in which a function starts, and each
 * function reads some of the records.
 */
export const onFirstUse = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};
