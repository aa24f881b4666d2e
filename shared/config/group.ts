/**
 * A group of variables, whose schemas are made when they are first asked for.
 *
 * All groups together have hundreds of schemas, which take a tenth of the time of a function's start. A function reads some of the groups.
 */
import type * as z from 'zod';

export type Group<S extends z.ZodRawShape = z.ZodRawShape> = { readonly shape: S };

/** The values of the variables, as they are read. */
export type ValuesOf<G extends Group> = z.output<z.ZodObject<G['shape']>>;

export const group = <S extends z.ZodRawShape>(make: () => S): Group<S> => {
  let made: S | undefined;
  return {
    get shape() {
      made ??= make();
      return made;
    },
  };
};
