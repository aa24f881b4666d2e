/**
 * Faults of one run and their rates: drawn from the seed, so that each run has a character of its own. Many rates
 * are zero in a run; a world in which everything fails tries less than one in which little does.
 */
import type { Random } from './random.ts';

/** Probabilities per occasion, unless the name has a unit. */
export type Faults = {
  /** A function dies where it calls a port. */
  readonly death: number;
  /** A request is refused and changes nothing. */
  readonly refused: number;
  /** A write happens and its answer is lost. */
  readonly answerLost: number;
  /** A write happens, its answer is lost, and the client library sends it again. */
  readonly sentTwice: number;
  /** A request takes seconds. */
  readonly slow: number;
  readonly wakeLost: number;
  readonly wakeTwice: number;
  readonly wakeLate: number;
  readonly indexLagMsMax: number;
  readonly clockSkewMsMax: number;
  readonly noCapacity: number;
  readonly startFails: number;
  readonly taskDies: number;
  readonly taskEvicted: number;
  readonly eventLost: number;
  readonly eventTwice: number;
  readonly eventLate: number;
  readonly linkBreaks: number;
  readonly linkDown: number;
  readonly postFails: number;
  readonly clientLeaves: number;
  readonly modelFails: number;
  readonly modelCut: number;
  readonly modelTooLong: number;
  readonly modelSlow: number;
};

const highest: Faults = {
  death: 0.03,
  refused: 0.04,
  answerLost: 0.03,
  sentTwice: 0.1,
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

export const calm = Object.fromEntries(Object.keys(highest).map((name) => [name, 0])) as Faults;

export const drawFaults = (random: Random): Faults => {
  const isQuiet = random.chance(0.05);
  const drawn = Object.entries(highest).map(([name, max]) => {
    const isOff = isQuiet || random.chance(0.4);
    return [name, isOff ? 0 : max > 10 ? random.spread(1, max) : max * (random.spread(1, 10) / 10)];
  });
  return Object.fromEntries(drawn) as Faults;
};
