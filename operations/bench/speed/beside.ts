/** A figure between two measurements of its floor; each is the median of several tries, since the machine does other work. */
import { type Figure, median, type Target } from './figures.ts';

/** One try: milliseconds, bytes, whatever the unit of the figure is. */
export type Try = () => Promise<number>;

type Beside = {
  readonly name: string;
  readonly unit: string;
  readonly measure: Try;
  readonly floor: { readonly name: string; readonly measure: Try };
  readonly tries: number;
  readonly target?: Target;
};

/** The first try of each is dropped: it opens connections and compiles. */
export const medianOf = async (measure: Try, tries: number): Promise<number> => {
  const values: number[] = [];
  for (let one = 0; one <= tries; one += 1) values.push(await measure());
  return median(values.slice(1));
};

export const beside = async ({ floor, measure, tries, ...figure }: Beside): Promise<Figure> => {
  const before = await medianOf(floor.measure, tries);
  const value = await medianOf(measure, tries);
  return {
    ...figure,
    value,
    floor: { name: floor.name, before, after: await medianOf(floor.measure, tries) },
  };
};

export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};
