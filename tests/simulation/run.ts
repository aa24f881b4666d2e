/** One run: a world, its platform and its users, all from one seed; faults for a while, then rest. */

import type { SessionId } from '#shared/domain/ids.ts';
import { lateSaveMsMax } from '#shared/domain/limits.ts';
import { chooseIdleTimes } from './chooser.ts';
import type { Counts } from './coverage.ts';
import { type ClassName, standing } from './faults.ts';
import { checkAnswers, checkForgotten, checkRest } from './leak-checks.ts';
import { startOwner } from './owner.ts';
import { startPerson } from './person.ts';
import { Platform } from './platform.ts';
import { startProgram } from './program.ts';
import { openRandom } from './random.ts';
import { register } from './registry.ts';
import { drawSettings } from './settings.ts';
import { keepSnapshots } from './snapshotter.ts';
import { connect, type Users } from './users.ts';
import { withdrawGrants } from './withdrawer.ts';
import { BrokenPromise, Simulation, startOfTime, type TraceLine } from './world.ts';
import { makeCrowd, writeAsNewer } from './worlds.ts';

export type Run = {
  readonly seed: number;
  readonly steps: number;
  readonly broken?: BrokenPromise;
  readonly trace: readonly TraceLine[];
  readonly met: Counts;
};

const minute = 60_000;
/** From the last fault to the last answer: leases, starts, retries, approvals; less than the long idle limit. */
export const answersMs = 13 * minute;
const lateAnswersMs = 25 * minute;
/** The time of a client's call, and of the sweep that finds it over. */
const silenceMsMax = 3 * minute;
/** From the last fault to rest: the long idle limit, sweeps for orphans, and what a stop may take. */
export const restMs = 45 * minute;

export const runSeed = async (seed: number, on: ReadonlySet<ClassName> = standing): Promise<Run> => {
  const sim = new Simulation(seed, on);
  try {
    await live(sim, { seed, on });
    return { seed, steps: sim.steps, trace: sim.trace, met: sim.coverage.counts };
  } catch (error) {
    if (!(error instanceof BrokenPromise)) throw error;
    return { seed, steps: sim.steps, broken: error, trace: sim.trace, met: sim.coverage.counts };
  }
};

const live = async (sim: Simulation, { seed, on }: World): Promise<void> => {
  const { random } = sim;
  const settings = drawSettings(sim);
  const platform = new Platform(sim, settings);
  sim.hasLongCalls = settings.toolWaitMs < 60_000;
  sim.hasInput = sim.hasLongCalls && !settings.hasProjects && !settings.isCrowded;
  if (sim.hasLongCalls) sim.coverage.hit('world/detach');
  if (settings.isBig) {
    sim.isBig = true;
    sim.coverage.hit('world/big');
  }
  sim.isCrowded = settings.isCrowded;
  const minutes = random.int(2, 7) + (settings.isLong ? sim.further.int(8, 25) : 0);
  const until = startOfTime + minutes * minute;
  await register(platform.table);
  if (on.has('relay') && openRandom(seed ^ 0x1b873593).chance(relayShare)) await platform.openNetwork();
  if (on.has('trials')) openTrials(sim, seed);
  startJanitor(platform);
  const users = { platform, until };
  if (on.has('snapshots')) startKeeper(users, seed);
  startWithdrawer(users, seed);
  startChooser(users, seed);
  for (let person = random.int(1, 3); person > 0; person -= 1)
    sim.after(random.int(0, minute), () => startPerson(users));
  for (let program = random.int(0, 2); program > 0; program -= 1)
    sim.after(random.int(0, minute), () => void startProgram(users));
  if (settings.isLong) laterUsers(users, minutes);
  if (settings.hasProjects) void startOwner(users);
  if (settings.isCrowded) await makeCrowd(users);
  if (settings.hasNewer) sim.after(sim.further.int(0, minute), () => writeAsNewer(platform));
  await sim.runUntil(until);
  sim.calmDown();
  await runToAnswers(platform, until);
  checkAnswers(platform);
  sim.throwBroken();
  await sim.runUntil(until + restMs);
  checkRest(platform);
  sim.throwBroken();
  if (!random.chance(0.1)) return;
  const { historyMs, pausedMs } = settings.lifetimes;
  await sim.runUntil(until + restMs + pausedMs + 2 * historyMs + 30 * minute + lateSaveMsMax);
  checkForgotten(platform);
  sim.throwBroken();
};

/** Turns of a long queue may each wait for a client that is gone: they get more time, as long as they go on. */
const runToAnswers = async ({ sim, checkers: { log } }: Platform, until: number): Promise<void> => {
  await sim.runUntil(until + answersMs);
  const goesOn = (): boolean => log.unanswered().length > 0 && sim.now() - log.saidAt < silenceMsMax;
  while (goesOn() && sim.now() < until + lateAnswersMs) await sim.runUntil(sim.now() + minute);
};

type World = { readonly seed: number; readonly on: ReadonlySet<ClassName> };

const trialsShare = 0.25;
const keeperShare = 0.25;
const withdrawerShare = 0.5;
const chooserShare = 0.4;
/** Of the worlds whose sandboxes have a network. */
const relayShare = 0.3;

/** In some worlds people decide by effects. */
const openTrials = (sim: Simulation, seed: number): void => {
  if (!openRandom(seed ^ 0x27d4eb2f).chance(trialsShare)) return;
  sim.hasTrials = true;
  sim.coverage.hit('world/trials');
};

/** In some worlds a person keeps snapshots of a session of their own. */
const startKeeper = (users: Users, seed: number): void => {
  const own = openRandom(seed ^ 0x2545f491);
  if (!own.chance(keeperShare)) return;
  const id = own.uuid() as SessionId;
  const { sim } = users.platform;
  sim.after(own.int(0, minute), () => {
    void connect(users, id, { approvals: 'auto' }).then(() => keepSnapshots(users, id, own));
  });
};

/** In some worlds a person takes back what was allowed. */
const startWithdrawer = (users: Users, seed: number): void => {
  const own = openRandom(seed ^ 0x7f4a7c15);
  if (own.chance(withdrawerShare)) void withdrawGrants(users, own);
};

/** In some worlds a person changes idle times. */
const startChooser = (users: Users, seed: number): void => {
  const own = openRandom(seed ^ 0x3c6ef372);
  if (own.chance(chooserShare)) void chooseIdleTimes(users, own);
};

/** The schedules of docs/spec/lifecycle.md. */
export const startJanitor = (platform: Platform): void => {
  const { sim } = platform;
  const every = (minutes: number, sweep: 'due' | 'slots' | 'orphans' | 'mcp'): void =>
    sim.after(minutes * minute, () => {
      void platform.janitor({ sweep });
      every(minutes, sweep);
    });
  const everySchedules = (): void =>
    sim.after(minute, () => {
      void platform.schedules();
      everySchedules();
    });
  every(1, 'due');
  if (platform.settings.hasProjects) everySchedules();
  every(1, 'mcp');
  every(5, 'slots');
  every(platform.settings.orphansEveryMinutes, 'orphans');
};

/** Others come while those of the beginning are forgotten. */
const laterUsers = (users: Users, minutes: number): void => {
  const { sim } = users.platform;
  for (let user = sim.further.int(1, 4); user > 0; user -= 1)
    sim.after(sim.further.int(1, minutes) * minute, () => {
      if (sim.further.chance(0.5)) startPerson(users);
      else void startProgram(users);
    });
};
