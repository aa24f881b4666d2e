/** Settings of a world: drawn from its seed, as an operator might have them. */

import type { EffectRule, TriedTool } from '#shared/domain/effect-rule.ts';
import type { Lifetimes } from '#shared/domain/idle-time.ts';
import { deploymentOwner, type Principal } from '#shared/domain/principal.ts';
import type { TreeLimits } from '#shared/domain/session-tree.ts';
import type { SlotLimits } from '#shared/domain/slot-holder.ts';
import type { ClassName } from './faults.ts';
import type { Random } from './random.ts';

/** Limits on agents that start agents. */
export type TreeBounds = Required<TreeLimits>;

export type Settings = {
  readonly lifetimes: Lifetimes;
  readonly poolSize: number;
  readonly leaseMs: number;
  /** The time that a turn function waits for a call in a sandbox. */
  readonly toolWaitMs: number;
  /** Time limit of a turn function. */
  readonly turnMs: number;
  readonly limits: { readonly stepsMax: number; readonly callsMax: number; readonly usdMax: number };
  readonly tree: TreeBounds;
  /** Share of the model's calls that go to other agents: 0 to 1. */
  readonly delegates: number;
  /** Agents give children a part of the time of sandboxes. */
  readonly isSlicing: boolean;
  /** Price of a token of an answer; absent: that of `prices.ts`. */
  readonly outputUsd?: number;
  readonly slots: SlotLimits;
  readonly orphansEveryMinutes: number;
  /** Hundreds of sessions share a workspace. */
  readonly isCrowded: boolean;
  /** Faults go on while sessions are forgotten. */
  readonly isLong: boolean;
  /** Texts are as long as the table takes them, and longer. */
  readonly isBig: boolean;
  /** Logs begin with almost as many events as they keep. */
  readonly isRing: boolean;
  /** A user has a project with named workspaces and schedules. */
  readonly hasProjects: boolean;
  /** A newer version of the code writes, too. */
  readonly hasNewer: boolean;
};

/** Everyone who uses the platform. */
export const principal: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'hash' };
/** Of the sessions whose calls rules decide by their effect: each says what becomes of its tool, and has a person asked about none. */
export const effectRules: (EffectRule & { readonly tools: TriedTool[] })[] = [
  { verdict: 'refuse', tools: ['write_file'] },
  { verdict: 'approve', tools: ['execute_command'] },
];
export const requestMs = 29_000;
export const mcpTimes = { checkMs: 60_000 };
const minute = 60_000;
const hour = 60 * minute;

type World = { readonly random: Random; readonly further: Random; readonly on: ReadonlySet<ClassName> };

export const drawSettings = ({ random, further, on }: World): Settings => {
  const first = drawFirst(random);
  const isCrowded = on.has('crowd') && further.chance(0.03);
  const isLong = on.has('long') && further.chance(0.1);
  const hasPool = on.has('pool') && further.chance(0.2);
  const settings = further.chance(0.2) ? withoutEviction(first) : first;
  const { lifetimes } = settings;
  const waits = {
    pausedMs: further.pick([20, minute, 20 * minute]),
    waitStopMs: further.pick([2000, 10_000, minute, 15 * minute]),
  };
  return {
    ...settings,
    lifetimes: { ...lifetimes, ...waits },
    isCrowded,
    isLong,
    ...(hasPool ? { poolSize: further.int(1, 2), orphansEveryMinutes: further.pick([1, 2]) } : {}),
    ...(isLong
      ? { lifetimes: { ...lifetimes, ...waits, historyMs: further.pick([4, 8, 16]) * minute } }
      : {}),
    ...(isCrowded ? { slots: { ...settings.slots, executionMax: 10, agentMax: 1000 } } : {}),
    isBig: on.has('sizes') && further.chance(0.05),
    isRing: on.has('ring') && further.chance(0.05),
    hasProjects: on.has('projects') && further.chance(0.15),
    hasNewer: on.has('versions') && further.chance(0.1),
    isSlicing: on.has('slices') && further.chance(0.25),
    ...(on.has('detach') && further.chance(0.3) ? { toolWaitMs: further.pick([100, 2000, 10_000]) } : {}),
  };
};

/** Where nothing gives way, an answer may wait for the idle limits of all others in turn: they are short. */
const withoutEviction = ({ slots, lifetimes, ...settings }: Settings): Settings => ({
  ...settings,
  slots: { ...slots, evictsIdle: false },
  lifetimes: { ...lifetimes, idleMs: Math.min(lifetimes.idleMs, minute) },
});

const drawFirst = (random: Random): Settings => {
  const usdMax = random.chance(0.3) ? random.pick([0.03, 0.06, 0.2]) : 10;
  return {
    lifetimes: {
      idleMs: random.pick([0.3, 1, 15]) * minute,
      executionIdleMs: random.pick([0.3, 2, 15]) * minute,
      historyMs: random.pick([16, 60]) * minute,
      ...{ pausedMs: 20 * minute, waitStopMs: 15 * minute },
    },
    poolSize: random.chance(0.4) ? random.int(1, 2) : 0,
    leaseMs: random.pick([6000, 15_000, 30_000]),
    toolWaitMs: hour,
    // A dead function's reservation counts until a minute after its time: where money is short, time is, too.
    turnMs: random.pick(usdMax < 1 ? [45_000, 120_000] : [45_000, 120_000, 900_000]),
    limits: { stepsMax: random.int(1, 4), callsMax: random.int(2, 4), usdMax },
    tree: { recursionDepthMax: random.pick([1, 3, 3]), agentsPerSessionMax: 5, costUsdMax: usdMax },
    delegates: random.pick([0.1, 0.3, 0.7]),
    slots: {
      executionMax: random.int(1, 3),
      agentMax: random.int(1, 3),
      conversationsMax: 1000,
      evictsIdle: true,
    },
    orphansEveryMinutes: 10,
    ...{ isCrowded: false, isLong: false, isBig: false, isRing: false, hasProjects: false, hasNewer: false },
    isSlicing: false,
  };
};
