/** Tokens and tool calls of slices, in any order in which the sessions of a tree reserve, hear answers, lose them and die. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SessionId } from './ids.ts';
import {
  decideReservation,
  type Grant,
  type MoneyAnswer,
  type Tree,
  withReservation,
} from './tree-budget.ts';
import { newSlice, type Slice } from './tree-slice.ts';

/** A slice within a slice, one of tokens alone, one of calls alone, and a session without. */
const limits: Readonly<Record<string, Slice>> = {
  s1: newSlice({ tokensMax: 40, toolCallsMax: 9 }),
  s2: newSlice({ tokensMax: 25, toolCallsMax: 4 }),
  s3: newSlice({ tokensMax: 12 }),
  s4: newSlice({ toolCallsMax: 3 }),
};
const slicesBySession = [[], ['s1'], ['s1', 's2'], ['s1', 's3'], ['s4']] as unknown as readonly SessionId[][];

type Step = {
  readonly what: 'ask' | 'hear' | 'lose' | 'die';
  readonly session: number;
  readonly tokens: number;
  readonly calls: number;
  /** The part of its grant that it uses. */
  readonly part: number;
};

type World = {
  tree: Tree;
  now: number;
  readonly live: Map<number, Grant>;
  readonly fences: number[];
  /** Of all calls that were made, by slice. */
  readonly used: Record<string, { tokens: number; calls: number }>;
  answer?: MoneyAnswer | undefined;
};

const steps = fc.array(
  fc.record({
    what: fc.constantFrom('ask', 'ask', 'ask', 'hear', 'hear', 'lose', 'die'),
    session: fc.nat({ max: 4 }),
    tokens: fc.integer({ min: 2, max: 12 }),
    calls: fc.integer({ min: 1, max: 4 }),
    part: fc.constantFrom(0, 0.5, 1),
  }),
  { maxLength: 80 },
);

const idOf = (session: number): SessionId => `s${session}` as SessionId;
const slicesOf = (session: number): readonly SessionId[] => slicesBySession[session] ?? [];
const lifeMs = 5;

const ask = (world: World, { session, tokens, calls }: Step): void => {
  if (world.live.has(session)) return;
  const sums = { usd: 0, usdMin: 0, usdMax: 1, tokens, tokensMin: 2, toolCalls: calls };
  const request = {
    ...{ session: idOf(session), fence: world.fences[session] ?? 1, slices: slicesOf(session), ...sums },
    ...{ at: world.now, until: world.now + lifeMs, call: String(world.now) },
  };
  world.answer = decideReservation(world.tree, request);
  if (typeof world.answer === 'string') return;
  const { grantedUsd: usd, ...granted } = world.answer;
  world.tree = { ...world.tree, ...withReservation(world.tree, { ...request, ...granted, usd }) };
  world.live.set(session, world.answer);
};

/** The adapter's sums: what an answer took, or all that a lost one may have taken. */
const conclude = (world: World, { session, part, what }: Step): void => {
  const granted = world.live.get(session);
  if (granted === undefined) return;
  world.live.delete(session);
  const tokens = Math.floor((granted.tokens ?? 0) * part);
  const calls = what === 'hear' ? Math.floor((granted.toolCalls ?? 0) * part) : 0;
  for (const id of slicesOf(session)) {
    const sum = world.used[id] ?? { tokens: 0, calls: 0 };
    world.used[id] = { tokens: sum.tokens + tokens, calls: sum.calls + calls };
  }
  if (what === 'die') {
    world.fences[session] = (world.fences[session] ?? 1) + 1;
    return;
  }
  const { [idOf(session)]: _, ...reserved } = world.tree.reserved;
  const heard = what === 'hear';
  const slices = Object.entries(world.tree.slices ?? {}).map(([id, slice]) => [
    id,
    slicesOf(session).includes(id as SessionId)
      ? {
          ...slice,
          tokens: (slice.tokens ?? 0) + (heard ? tokens : 0),
          unsettledTokens: (slice.unsettledTokens ?? 0) + (heard ? 0 : (granted.tokens ?? 0)),
          toolCalls: (slice.toolCalls ?? 0) + calls,
        }
      : slice,
  ]);
  world.tree = { ...world.tree, reserved, slices: Object.fromEntries(slices) };
};

const holds = (look: (world: World, step: Step) => void): void =>
  fc.assert(
    fc.property(steps, (taken) => {
      const tree = { agents: 5, spentUsd: 0, reserved: {}, slices: limits, version: 1 };
      const world: World = { tree, now: 1, live: new Map(), fences: [], used: {} };
      for (const step of taken as readonly Step[]) {
        world.now += 1;
        world.answer = undefined;
        // A function that lives longer than its reservation is ended.
        for (const session of [...world.live.keys()]) {
          const until = world.tree.reserved[idOf(session)]?.until ?? 0;
          if (until <= world.now) conclude(world, { ...step, session, what: 'die' });
        }
        if (step.what === 'ask') ask(world, step);
        else conclude(world, step);
        look(world, step);
      }
    }),
    { numRuns: 1000 },
  );

test('a branch never takes more tokens than its slice, whichever function dies (TM8)', () => {
  holds(({ live, used }) => {
    for (const [id, { tokensMax = Number.POSITIVE_INFINITY }] of Object.entries(limits)) {
      const within = [...live].filter(([session]) => slicesOf(session).includes(id as SessionId));
      const underway = within.reduce((sum, [, { tokens = 0 }]) => sum + tokens, 0);
      expect(underway + (used[id]?.tokens ?? 0)).toBeLessThanOrEqual(tokensMax);
    }
  });
});

test('the answers of a branch ask for no more tools than its slice has calls (TM9)', () => {
  holds(({ live, used }) => {
    for (const [id, { toolCallsMax = Number.POSITIVE_INFINITY }] of Object.entries(limits)) {
      const within = [...live].filter(([session]) => slicesOf(session).includes(id as SessionId));
      const underway = within.reduce((sum, [, { toolCalls = 0 }]) => sum + toolCalls, 0);
      expect(underway + (used[id]?.calls ?? 0)).toBeLessThanOrEqual(toolCallsMax);
    }
  });
});

test('a branch without a tool call left goes on, and waits for nobody (TM9)', () => {
  holds(({ answer }, { session }) => {
    if (session === 4 && answer !== undefined) expect(answer).toMatchObject({ grantedUsd: 0 });
  });
});

test('a call waits only while another of the tree runs, or may run (TM3)', () => {
  holds(({ tree, now, answer }, { session }) => {
    if (answer !== 'busy') return;
    const others = Object.entries(tree.reserved).filter(([id]) => id !== idOf(session));
    expect(others.some(([, { until }]) => until > now)).toBe(true);
  });
});
