/** The table of docs/spec/lifecycle.md: each state of a slot, each change of it. */
import { describe, expect, test } from 'vitest';
import type { Flavor } from './flavor.ts';
import type { MessageId, SessionId, TurnId, WorkspaceId } from './ids.ts';
import { isSlotOf, slotChangeOf, slotSessionOf, turnTakesSlot } from './session-slot.ts';
import { changeSlot, isHeld, type Slot, type SlotChange, slotStep } from './slot.ts';
import type { TurnState } from './turn/turn.ts';

const workspace = 'w' as WorkspaceId;
const sandbox = { workspace, generation: 2, flavor: 'small' as Flavor };
const states = {
  free: {},
  turn: { turn: true },
  sandbox: { sandbox },
  both: { turn: true, sandbox },
  old: { isOld: true },
} as const satisfies Record<string, Slot>;
type State = keyof typeof states;

const changes = {
  'turn began': { type: 'turn-began' },
  'turn rested': { type: 'turn-rested' },
  'sandbox started': { type: 'sandbox-started', sandbox },
  'sandbox stopped': { type: 'sandbox-stopped', workspace, generation: 2 },
  'an earlier one stopped': { type: 'sandbox-stopped', workspace, generation: 1 },
} as const satisfies Record<string, SlotChange>;
type Change = keyof typeof changes;

/** The next state, and the number of slots that it takes. */
type Cell = `${State} ${'+1' | '0' | '-1'}`;

// biome-ignore format: a table is read by column
const table: Record<State, Record<Change, Cell>> = {
  free:    { 'turn began': 'turn +1', 'turn rested': 'free 0',    'sandbox started': 'sandbox +1', 'sandbox stopped': 'free 0',  'an earlier one stopped': 'free 0' },
  turn:    { 'turn began': 'turn 0',  'turn rested': 'free -1',   'sandbox started': 'both 0',     'sandbox stopped': 'turn 0',  'an earlier one stopped': 'turn 0' },
  sandbox: { 'turn began': 'both 0',  'turn rested': 'sandbox 0', 'sandbox started': 'sandbox 0',  'sandbox stopped': 'free -1', 'an earlier one stopped': 'sandbox 0' },
  both:    { 'turn began': 'both 0',  'turn rested': 'sandbox 0', 'sandbox started': 'both 0',     'sandbox stopped': 'turn 0',  'an earlier one stopped': 'both 0' },
  old:     { 'turn began': 'turn 0',  'turn rested': 'free -1',   'sandbox started': 'sandbox 0',  'sandbox stopped': 'free -1', 'an earlier one stopped': 'free -1' },
};

describe('a slot', () => {
  const cells = (Object.keys(table) as State[]).flatMap((state) =>
    (Object.keys(changes) as Change[]).map((change) => ({ state, change, cell: table[state][change] })),
  );
  test.each(cells)('held by $state: $change → $cell', ({ state, change, cell }) => {
    const [next = 'free', step] = cell.split(' ') as [State, string];
    const after = changeSlot(states[state], changes[change]);
    expect(after).toEqual(states[next]);
    expect(slotStep(states[state], after)).toBe(Number(step));
  });

  test('is held by a turn, a sandbox, both, or a session of an earlier version', () => {
    expect(Object.values(states).map(isHeld)).toEqual([false, true, true, true, true]);
  });
});

describe('a step of the turn', () => {
  const running = {
    turnId: 't' as TurnId,
    messageId: 'm' as MessageId,
    step: 1,
    usage: { inputTokens: 0, outputTokens: 0 },
    spentUsd: 0,
    policy: { mode: 'ask' as const, grants: [] },
  };
  const turns: Record<TurnState['kind'], TurnState> = {
    idle: { kind: 'idle' },
    thinking: { kind: 'thinking', ...running },
    deciding: { kind: 'deciding', ...running, calls: [] },
    acting: { kind: 'acting', ...running, calls: [] },
    done: { kind: 'done', turnId: 't' as TurnId, stopReason: 'end_turn' },
  };
  const root = { kind: 'agent' as const };

  test.each([
    ['idle', false, undefined, 'turn-rested'],
    ['idle', true, 'turn-began', undefined],
    ['thinking', false, 'turn-began', undefined],
    ['thinking', true, 'turn-began', undefined],
    ['deciding', false, undefined, 'turn-rested'],
    ['deciding', true, undefined, 'turn-rested'],
    ['acting', false, 'turn-began', undefined],
    ['acting', true, 'turn-began', undefined],
    ['done', false, undefined, 'turn-rested'],
    ['done', true, 'turn-began', undefined],
  ] as const)('to %s, messages wait: %s → %s without a slot, %s with one', (...row) => {
    const [kind, waits, without, held] = row;
    expect(slotChangeOf(root, turns[kind], waits)).toBe(without);
    expect(slotChangeOf({ ...root, slot: { turn: true } }, turns[kind], waits)).toBe(held);
    expect(slotChangeOf({ ...root, slot: { sandbox } }, turns[kind], waits)).toBe(without);
  });

  test.each([
    ['idle', true, true],
    ['thinking', false, true],
    ['deciding', true, false],
    ['acting', false, true],
    ['done', true, true],
  ] as const)('%s: a session without a slot agrees %s, with one %s', (kind, without, held) => {
    expect(isSlotOf(root, turns[kind])).toBe(without);
    expect(isSlotOf({ ...root, slot: { turn: true } }, turns[kind])).toBe(held);
    expect(isSlotOf({ kind: 'execution', slot: { turn: true } }, turns[kind])).toBe(true);
  });

  test('of a child, or where there is no turn, moves no slot', () => {
    const tree = { root: 'r' as SessionId, parent: 'r' as SessionId };
    expect(slotChangeOf({ kind: 'agent', tree }, turns.thinking, true)).toBeUndefined();
    expect(slotChangeOf({ kind: 'execution' }, turns.thinking, true)).toBeUndefined();
    expect([turnTakesSlot(root), turnTakesSlot({ kind: 'agent', tree })]).toEqual([true, false]);
  });
});

test('a child that shares the workspace of its parent starts a sandbox under the slot of that one', () => {
  const id = 'child' as SessionId;
  expect([slotSessionOf({ id }), slotSessionOf({ id, slotOf: 'root' as SessionId })]).toEqual([
    'child',
    'root',
  ]);
});
