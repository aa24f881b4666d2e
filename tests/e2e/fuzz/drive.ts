/**
 * Plays the cases of one door, some at a time, and reports the first bad one: the case, how small it gets and
 * which command makes it again.
 *
 * The cases of a seed are always the same. A fault is asked for once more, alone, to be made smaller; one that only
 * shows among others is reported as it was.
 */
import * as fc from 'fast-check';

export type Door<Case> = {
  readonly name: string;
  readonly cases: fc.Arbitrary<Case>;
  readonly count: number;
  /** The fault of the outcome, if any. */
  readonly play: (asked: Case) => Promise<string | undefined>;
  readonly show: (asked: Case) => string;
};

type Found<Case> = { readonly index: number; readonly asked: Case; readonly problem: string };

const atOnce = 20;
const shrinkMsMax = 45_000;
const foundMax = 5;
const shownCharactersMax = 3000;

/** The cases that were played. Throws at the first that is answered wrongly. */
export const drive = async <Case>(door: Door<Case>, seed: number): Promise<readonly Case[]> => {
  const cases = fc.sample(door.cases, { seed, numRuns: door.count });
  const [found, ...more] = await playAll(door, cases);
  if (found === undefined) return cases;
  const smaller = await shrunk(door, { seed, index: found.index });
  const { asked, problem } = smaller ?? found;
  throw new Error(
    [
      `${door.name}, case ${found.index} of seed ${seed}: ${found.problem}`,
      `${smaller === undefined ? 'not when asked alone; it was' : `alone and smaller: ${problem}`}`,
      shortened(door.show(asked)),
      ...more.map(({ index, problem: other }) => `Case ${index}, too: ${other}`),
      `Again: FUZZ_SEED=${seed} npx vitest run --project e2e tests/e2e/fuzz.test.ts`,
    ].join('\n'),
  );
};

/** Not more than a few are looked for: each may have waited in vain. */
const playAll = async <Case>(door: Door<Case>, cases: readonly Case[]): Promise<readonly Found<Case>[]> => {
  const found: Found<Case>[] = [];
  const waiting = cases.entries();
  const play = async (): Promise<void> => {
    for (const [index, asked] of waiting) {
      if (found.length >= foundMax) return;
      const problem = await door.play(asked);
      if (problem !== undefined) found.push({ index, asked, problem });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, play));
  return found.toSorted((one, other) => one.index - other.index);
};

const shortened = (text: string): string =>
  text
    .replaceAll(/(.)\1{40,}/gs, (run, character: string) => `${character}…(${run.length} times)`)
    .slice(0, shownCharactersMax);

const shrunk = async <Case>(
  door: Door<Case>,
  { seed, index }: { readonly seed: number; readonly index: number },
): Promise<Omit<Found<Case>, 'index'> | undefined> => {
  let smallest: Omit<Found<Case>, 'index'> | undefined;
  const property = fc.asyncProperty(door.cases, async (asked) => {
    const problem = await door.play(asked);
    if (problem === undefined) return;
    smallest = { asked, problem };
    throw new Error(problem);
  });
  await fc.check(property, { seed, path: String(index), numRuns: 1, interruptAfterTimeLimit: shrinkMsMax });
  return smallest;
};
