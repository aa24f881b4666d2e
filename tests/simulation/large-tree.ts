/**
 * A tree of fifty agents that share one dollar, in a world of faults of its own: its agents start each other, people speak to
 * all of them until nothing is left, and every write is checked as in any other run (`money-checker.ts`).
 *
 * It draws from a seed as those do, and is no part of them: their seeds keep their worlds.
 */
import type { SessionId } from '#shared/domain/ids.ts';
import { settledAt } from '#shared/domain/tree-budget.ts';
import { standing } from './faults.ts';
import { checkAnswers, checkRest } from './leak-checks.ts';
import { Platform } from './platform.ts';
import { openRandom, type Random } from './random.ts';
import { register } from './registry.ts';
import { answersMs, restMs, startJanitor } from './run.ts';
import { drawSettings, type Settings } from './settings.ts';
import { childrenOf, sessionOf, treeItemOf } from './stored.ts';
import { connect, sayOnce, type Users } from './users.ts';
import { BrokenPromise, Simulation } from './world.ts';

export const agentsMax = 50;
export const budgetUsd = 1;
/**
 * The lives of a world: the next one is cheaper, or people speak to agents that may start others until the tree is whole. A full answer
 * of the first costs half a cent, so that fifty calls at once reserve a quarter of the dollar.
 */
type Life = { readonly outputUsd: number; readonly growsFirst: boolean };
const firstLife: Life = { outputUsd: 0.000_005, growsFirst: false };
const laterLives: readonly Life[] = [
  { outputUsd: 0.000_005, growsFirst: true },
  { outputUsd: 0.000_002_5, growsFirst: true },
  { outputUsd: 0.000_001_25, growsFirst: true },
];
const minute = 60_000;
const depthMax = 6;
/** Nobody says more; a tree that is spent is left earlier. The slowest of a hundred worlds needs ten thousand. */
const messagesMax = 25_000;
/** So many refusals for want of money are enough: each agent of the tree may have had its own. */
const refusalsMax = agentsMax;

export type LargeTree = {
  readonly seed: number;
  readonly steps: number;
  /** Said by people until the tree was spent. */
  readonly messages: number;
  /** Of the tree, its root included. */
  readonly agents: number;
  readonly spentUsd: number;
  /** Of calls that may have been charged for, and whose cost nobody knows. */
  readonly unsettledUsd: number;
  /** Sum of what its sessions say they cost. */
  readonly costUsd: number;
  /** The provider's bill since the tree began, with answers that nobody lived to write down, and what its root had spent before. */
  readonly billedUsd: number;
  /** Turns that ended since the money was spent. */
  readonly refused: number;
  readonly faults: number;
  readonly broken?: string;
};

/** A world, lived again while its tree is spent before it is whole. */
export const runLargeTrees = async (seed: number): Promise<readonly LargeTree[]> => {
  const lives: LargeTree[] = [];
  for (const life of [firstLife, ...laterLives]) {
    const tree = await runLargeTree(seed, life);
    lives.push(tree);
    if (tree.agents === agentsMax || tree.broken !== undefined) break;
  }
  return lives;
};

export const runLargeTree = async (seed: number, life: Life = firstLife): Promise<LargeTree> => {
  const sim = new Simulation(seed, standing);
  const platform = new Platform(sim, settingsOf(sim, life.outputUsd));
  const random = openRandom(seed ^ 0x1b873593);
  const root = random.uuid() as SessionId;
  const bill = billOf(platform, root);
  const people = { random, messages: 0, growsFirst: life.growsFirst };
  const report = () => ({
    ...reportOf(platform, root, seed),
    messages: people.messages,
    billedUsd: bill(),
  });
  try {
    await live(platform, root, people);
    return report();
  } catch (error) {
    if (!(error instanceof BrokenPromise)) throw error;
    return { ...report(), broken: error.message };
  }
};

type People = Pick<Life, 'growsFirst'> & { readonly random: Random; messages: number };

/** Of a root without a tree nothing is reserved: what it lost before is in no tree (TM7). */
const billOf = (platform: Platform, root: SessionId): (() => number) => {
  let billedUsd: number | undefined;
  platform.onCharged = (usd) => {
    const tree = treeItemOf(platform.table, root);
    if (tree !== undefined) billedUsd = (billedUsd ?? tree.spentUsd) + usd;
  };
  return () => rounded(billedUsd ?? 0);
};

const settingsOf = (sim: Simulation, outputUsd: number): Settings => {
  const drawn = drawSettings(sim);
  return {
    ...drawn,
    limits: { ...drawn.limits, stepsMax: 4, usdMax: budgetUsd },
    tree: { recursionDepthMax: depthMax, agentsPerSessionMax: agentsMax, costUsdMax: budgetUsd },
    delegates: 1,
    outputUsd,
    // The tree is looked at when all is over.
    lifetimes: { ...drawn.lifetimes, historyMs: 1440 * minute },
    // A reservation that nobody needs any more counts until a minute after its function.
    turnMs: Math.min(drawn.turnMs, 2 * minute),
    slots: { ...drawn.slots, agentMax: 2 * agentsMax },
    ...{ isCrowded: false, isLong: false, isBig: false, isRing: false, hasProjects: false, hasNewer: false },
    isSlicing: false,
  };
};

const live = async (platform: Platform, root: SessionId, people: People): Promise<void> => {
  const { sim } = platform;
  await register(platform.table);
  startJanitor(platform);
  const users = { platform, until: Number.POSITIVE_INFINITY };
  const said = speak(users, root, people);
  let isOver = false;
  void said.then(() => {
    isOver = true;
  });
  while (!isOver) await sim.runUntil(sim.now() + minute);
  sim.calmDown();
  const until = sim.now();
  await sim.runUntil(until + answersMs);
  checkAnswers(platform);
  sim.throwBroken();
  await sim.runUntil(until + restMs);
  checkRest(platform);
  sim.throwBroken();
};

/** People who speak to agents of the tree until it is whole and its money is spent. */
const speak = async (users: Users, root: SessionId, people: People): Promise<void> => {
  const { platform } = users;
  const { random } = people;
  const { sim, table } = platform;
  while (sessionOf(table, root) === undefined) await connect(users, root, { approvals: 'auto' });
  for (; people.messages < messagesMax && !isSpent(platform); people.messages += 1) {
    const below = childrenOf(table, root);
    const agents = [root, ...below.map(({ id }) => id)];
    const starters = [root, ...below.filter(({ depth }) => depth < depthMax).map(({ id }) => id)];
    const isGrowing = people.growsFirst && agents.length < agentsMax;
    void sayOnce(platform, random.pick(isGrowing ? starters : agents), { messageId: `m-${random.uuid()}` });
    // A few at a time as long as the tree is small; then so many that they wait for each other's reservations.
    await sim.pause(random.spread(100, agents.length < agentsMax ? 10_000 : 2000));
  }
};

const isSpent = ({ checkers }: Platform): boolean => checkers.log.stopped('budget_exceeded') >= refusalsMax;

const reportOf = (
  { sim, table, checkers }: Platform,
  root: SessionId,
  seed: number,
): Omit<LargeTree, 'billedUsd' | 'messages'> => {
  const item = treeItemOf(table, root);
  // No call is granted any more that would count those whose functions died.
  const tree = item && settledAt(item, sim.now());
  const sessions = [sessionOf(table, root), ...childrenOf(table, root)];
  const fired = Object.entries(sim.coverage.counts).filter(([met]) => met.startsWith('fault/'));
  return {
    ...{ seed, steps: sim.steps },
    agents: tree?.agents ?? 1,
    spentUsd: rounded(tree?.spentUsd ?? 0),
    unsettledUsd: rounded(tree?.unsettledUsd ?? 0),
    costUsd: rounded(sessions.reduce((sum, session) => sum + (session?.costUsd ?? 0), 0)),
    refused: checkers.log.stopped('budget_exceeded'),
    faults: fired.reduce((sum, [, times]) => sum + times, 0),
  };
};

/** Without what adding fractions leaves. */
const rounded = (usd: number): number => Number(usd.toFixed(9));
