/**
 * Faults of one run and their rates: drawn from the seed, so that each run has a character of its own. Many rates
 * are zero in a run; a world in which everything fails tries less than one in which little does.
 */
import type { Random } from './random.ts';

/** Probabilities per occasion, unless the name has a unit. */
const basic = {
  /** A function dies where it calls a port. */
  death: 0.03,
  /** A request is refused and changes nothing. */
  refused: 0.04,
  /** A write happens and its answer is lost. */
  answerLost: 0.03,
  /** A write happens, its answer is lost, and the client library sends it again. */
  sentTwice: 0.1,
  /** A request takes seconds. */
  slow: 0.04,
  wakeLost: 0.3,
  wakeTwice: 0.3,
  wakeLate: 0.3,
  indexLagMsMax: 5000,
  clockSkewMsMax: 2000,
  noCapacity: 0.6,
  startFails: 0.3,
  taskDies: 0.8,
  taskEvicted: 0.5,
  eventLost: 0.4,
  eventTwice: 0.4,
  eventLate: 0.4,
  linkBreaks: 0.5,
  linkDown: 0.2,
  postFails: 0.1,
  clientLeaves: 0.05,
  modelFails: 0.3,
  modelCut: 0.2,
  modelTooLong: 0.1,
  modelSlow: 0.3,
};

/** Classes of further faults: one that is switched off draws nothing, and leaves every other draw as it is. */
const classes = {
  /** Queries see the items of a transaction one by one; a page ends early; a batch leaves items undone. */
  torn: { tornMsMax: 8, pageEndsEarly: 0.5, unprocessed: 0.15 },
  /** A write meets a transaction that holds its item. */
  conflict: { conflict: 0.6 },
  /** The table throttles one call, after the attempts of the client library. */
  throttle: { throttled: 0.01 },
  /** A save takes minutes; the sandbox dies in its middle. */
  transfer: { saveLong: 0.1, diesInSave: 0.15 },
  /** The caller's connection to the link breaks and the save or restore goes on; a restore outlives its claim. */
  half: { halfOpen: 0.3, restoreLong: 0.6 },
  /** A function stands still as a whole, its timers too. */
  pause: { paused: 0.01 },
  /** The bucket refuses a write, stores it and loses the answer, deletes a part. */
  storage: { storageRefuses: 0.1, storageAnswerLost: 0.1, storageDeletesPart: 0.4 },
  /** A client reads more slowly than frames come. */
  sockets: { postSlow: 0.3 },
} as const;

export type FaultName =
  | keyof typeof basic
  | { [Name in keyof typeof classes]: keyof (typeof classes)[Name] }[keyof typeof classes];
export type Faults = Readonly<Record<FaultName, number>>;

const isClass = (name: string): name is keyof typeof classes => name in classes;
const classNames = Object.keys(classes).filter(isClass);

const highest: Faults = {
  ...basic,
  ...(Object.assign({}, ...Object.values(classes)) as Omit<Faults, never>),
};

export const calm = Object.fromEntries(Object.keys(highest).map((name) => [name, 0])) as Faults;

export const isBasic = (name: FaultName): name is keyof typeof basic => name in basic;

/** Further kinds of world, switched like the classes of faults. */
const worlds = [
  'order',
  'prompt',
  'long',
  'pool',
  'ring',
  'sizes',
  'crowd',
  'versions',
  'projects',
  'snapshots',
  'detach',
  'slices',
  'relay',
  'trials',
] as const;

export type ClassName = keyof typeof classes | (typeof worlds)[number];
export const allClasses: readonly ClassName[] = [...classNames, ...worlds];

/** Classes that break a promise by a fault of the platform that is known and not mended yet. */
const unmended: readonly ClassName[] = [];

/** Those of a run that chooses none. */
export const standing: ReadonlySet<ClassName> = new Set(
  allClasses.filter((name) => !unmended.includes(name)),
);

const drawn = (random: Random, rates: Readonly<Record<string, number>>, isQuiet: boolean) =>
  Object.entries(rates).map(([name, max]) => {
    const isOff = isQuiet || random.chance(0.4);
    return [name, isOff ? 0 : max > 10 ? random.spread(1, max) : max * (random.spread(1, 10) / 10)];
  });

export type Chances = {
  readonly random: Random;
  /** Source of the draws for everything that can be switched. */
  readonly further: Random;
};

/** Faults that keep a wake-up or the janitor from its work. */
const delaying = {
  ...{ death: 0, refused: 0, answerLost: 0, slow: 0, wakeLost: 0, wakeLate: 0, postFails: 0 },
  ...{ tornMsMax: 0, conflict: 0, throttled: 0, paused: 0, saveLong: 0, restoreLong: 0 },
} satisfies Partial<Record<FaultName, 0>>;

/** The rates of a run. Half of the classes that are on are off in a given world, and in some nothing comes late. */
export const drawFaults = (
  { random, further }: Chances,
  on: ReadonlySet<ClassName>,
): { readonly faults: Faults; readonly isQuiet: boolean } => {
  const isQuiet = random.chance(0.05);
  const first = drawn(random, basic, isQuiet);
  const others = classNames.flatMap((name) => {
    const isOff = !on.has(name) || further.chance(0.5) || isQuiet;
    return drawn(further, classes[name], isOff);
  });
  const isPrompt = on.has('prompt') && further.chance(0.2);
  const rates = Object.fromEntries([...first, ...others]);
  return { faults: { ...calm, ...rates, ...(isPrompt ? delaying : {}) }, isQuiet };
};

/** The faults that a long run must have seen fire. */
export const faultNames = (on: ReadonlySet<ClassName>): readonly FaultName[] => [
  ...(Object.keys(basic) as FaultName[]),
  ...classNames.filter((name) => on.has(name)).flatMap((name) => Object.keys(classes[name]) as FaultName[]),
];
