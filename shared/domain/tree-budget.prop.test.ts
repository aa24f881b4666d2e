/** The most that a tree spends, in any order in which its sessions reserve, spend, release and die. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SessionId } from './ids.ts';
import { decideReservation, type MoneyAnswer, type Tree, withReservation } from './tree-budget.ts';
import type { Slice } from './tree-slice.ts';

/** Whole numbers: their sums are exact. */
type Call = { readonly usd: number; readonly cost: number; readonly fence: number; readonly until: number };

type Step = {
  readonly what: 'ask' | 'hear' | 'give back' | 'die' | 'wait';
  readonly session: number;
  readonly usd: number;
  readonly cost: number;
  readonly ms: number;
};

const lifeMs = 100;

const stepWith = (cost: fc.Arbitrary<{ readonly usd: number; readonly cost: number }>) =>
  fc
    .record({
      what: fc.constantFrom('ask', 'ask', 'ask', 'hear', 'hear', 'give back', 'die', 'wait'),
      session: fc.nat({ max: 4 }),
      money: cost,
      ms: fc.nat({ max: lifeMs }),
    })
    .map(({ money, ...step }): Step => ({ ...step, ...money }) as Step);

const estimate = fc.integer({ min: 1, max: 8 });
const withinEstimate = estimate.chain((usd) =>
  fc.record({ usd: fc.constant(usd), cost: fc.nat({ max: usd }) }),
);
const anyCost = fc.record({ usd: estimate, cost: fc.nat({ max: 16 }) });
const usdMax = fc.nat({ max: 12 });
const runs = { numRuns: 1000 };

type World = {
  tree: Tree;
  now: number;
  /** Calls that are made right now, by session. */
  readonly live: Map<number, Call>;
  readonly fences: number[];
  /** By the provider, for all calls that were made, whatever became of them. */
  billedUsd: number;
  /** The same by slice. */
  readonly billedOf: Record<string, number>;
  asker?: SessionId;
  answer?: MoneyAnswer;
  /** The calls that were made at once when the last of them was granted. */
  atOnce: readonly Call[];
};

/** A slice within a slice, one beside them, and two sessions without. */
const slicesMax: Readonly<Record<string, number>> = { s1: 7, s2: 4, s4: 3 };
const slicesBySession: readonly (readonly string[])[] = [[], ['s1'], ['s1', 's2'], [], ['s4']];
const slicesOf = (session: number): readonly SessionId[] =>
  slicesBySession[session]?.map((id) => id as SessionId) ?? [];

const changedSlices = (
  { slices = {} }: Tree,
  session: number,
  add: (slice: Slice) => Slice,
): Readonly<Record<string, Slice>> =>
  Object.fromEntries(
    Object.entries(slices).map(([id, slice]) => [
      id,
      slicesOf(session).includes(id as SessionId) ? add(slice) : slice,
    ]),
  );

const bill = (world: World, session: number, usd: number): void => {
  world.billedUsd += usd;
  for (const id of slicesOf(session)) world.billedOf[id] = (world.billedOf[id] ?? 0) + usd;
};

const idOf = (session: number): SessionId => `s${session}` as SessionId;

const without = ({ reserved }: Tree, session: number): Tree['reserved'] => {
  const { [idOf(session)]: _, ...others } = reserved;
  return others;
};

const ask = (world: World, max: number, { session, usd, cost }: Step): void => {
  if (world.live.has(session)) return;
  const fence = world.fences[session] ?? 1;
  const until = world.now + lifeMs;
  const sums = { usd, usdMin: 1, usdMax: max, slices: slicesOf(session) };
  const request = { session: idOf(session), fence, ...sums, at: world.now, until };
  world.asker = request.session;
  world.answer = decideReservation(world.tree, request);
  if (typeof world.answer === 'string') return;
  const { grantedUsd } = world.answer;
  world.tree = { ...world.tree, ...withReservation(world.tree, { ...request, usd: grantedUsd }) };
  // An answer is bounded by the grant; one that costs more than its estimate is not.
  world.live.set(session, {
    usd: grantedUsd,
    cost: cost <= usd ? Math.min(cost, grantedUsd) : cost,
    fence,
    until,
  });
  world.atOnce = [...world.live.values()];
};

/** Its function is gone, and its reservation stays; the next holder of the session has the next fence. The provider has its money. */
const die = (world: World, session: number): void => {
  bill(world, session, world.live.get(session)?.cost ?? 0);
  if (world.live.delete(session)) world.fences[session] = (world.fences[session] ?? 1) + 1;
};

const wait = (world: World, ms: number): void => {
  world.now += ms;
  for (const [session, { until }] of [...world.live]) if (until <= world.now) die(world, session);
};

/** Its call ends: heard and paid for, or broken off and paid for all the same. */
const conclude = (world: World, session: number, isHeard: boolean): void => {
  const call = world.live.get(session);
  if (call === undefined) return;
  const { tree } = world;
  const { spentUsd, unsettledUsd = 0 } = tree;
  const lostUsd = Math.max(call.usd, call.cost);
  const money = isHeard ? { spentUsd: spentUsd + call.cost } : { unsettledUsd: unsettledUsd + lostUsd };
  const slices = changedSlices(tree, session, (slice) =>
    isHeard
      ? { ...slice, spentUsd: slice.spentUsd + call.cost }
      : { ...slice, unsettledUsd: slice.unsettledUsd + lostUsd },
  );
  world.tree = { ...tree, ...money, slices, reserved: without(tree, session) };
  bill(world, session, call.cost);
  world.live.delete(session);
};

const take = (world: World, max: number, step: Step): void => {
  delete world.answer;
  const { what, session } = step;
  if (what === 'ask') ask(world, max, step);
  else if (what === 'die') die(world, session);
  else if (what === 'wait') wait(world, step.ms);
  else conclude(world, session, what === 'hear');
};

const holds = (
  cost: fc.Arbitrary<{ readonly usd: number; readonly cost: number }>,
  look: (world: World, max: number) => void,
): void =>
  fc.assert(
    fc.property(fc.array(stepWith(cost), { maxLength: 60 }), usdMax, (steps, max) => {
      const slices = Object.fromEntries(
        Object.entries(slicesMax).map(([id, usd]) => [id, { usdMax: usd, spentUsd: 0, unsettledUsd: 0 }]),
      );
      const tree = { agents: 5, spentUsd: 0, reserved: {}, slices, version: 1 };
      const bills = { billedUsd: 0, billedOf: {} };
      const world: World = { tree, now: 1, live: new Map(), fences: [], atOnce: [], ...bills };
      for (const step of steps) {
        take(world, max, step);
        look(world, max);
      }
    }),
    runs,
  );

test('if no call costs more than it reserved, a tree spends at most its limit (TM1)', () => {
  holds(withinEstimate, ({ tree }, max) => expect(tree.spentUsd).toBeLessThanOrEqual(max));
});

test('if no call costs more than it reserved, a provider never bills more than the limit, whoever dies (TM7)', () => {
  holds(withinEstimate, ({ billedUsd, live }, max) => {
    const underway = [...live.values()].reduce((sum, { cost }) => sum + cost, 0);
    expect(billedUsd + underway).toBeLessThanOrEqual(max);
  });
});

test('if no call costs more than it reserved, a slice is never billed more than it has, whoever dies (TM8)', () => {
  holds(withinEstimate, ({ tree, billedOf, live }) => {
    for (const [id, { usdMax: max, spentUsd, unsettledUsd }] of Object.entries(tree.slices ?? {})) {
      const underway = [...live].filter(([session]) => slicesOf(session).includes(id as SessionId));
      const sum = underway.reduce((usd, [, { cost }]) => usd + cost, billedOf[id] ?? 0);
      expect(sum).toBeLessThanOrEqual(max);
      expect(spentUsd + unsettledUsd).toBeLessThanOrEqual(max);
    }
  });
});

test('if calls cost more than they reserved, a tree exceeds that by the excess of calls concurrent with the last granted one (TM2)', () => {
  holds(anyCost, ({ tree, atOnce }, max) => {
    const over = atOnce.reduce((sum, { usd, cost }) => sum + Math.max(0, cost - usd), 0);
    expect(tree.spentUsd).toBeLessThanOrEqual(max + over);
  });
});

test('a call waits only while another of the tree runs, or may run (TM3)', () => {
  holds(anyCost, ({ tree, now, asker, answer }) => {
    if (answer !== 'busy') return;
    const others = Object.entries(tree.reserved).filter(([session]) => session !== asker);
    expect(others.some(([, { until }]) => until > now)).toBe(true);
  });
});

test('once the limit is reached no call is granted any more (TM1)', () => {
  holds(anyCost, ({ tree, answer }, max) => {
    if (typeof answer === 'object') expect(tree.spentUsd).toBeLessThan(max);
  });
});
