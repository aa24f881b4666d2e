/** The budget of a tree, reservation by reservation; the properties of any order are in `tree-budget.prop.test.ts`. */
import { describe, expect, test } from 'vitest';
import type { SessionId } from './ids.ts';
import {
  decideReservation,
  leftFor,
  type MoneyAnswer,
  type Reservation,
  type ReservationRequest,
  settledAt,
  type Tree,
  withReservation,
} from './tree-budget.ts';

const id = (name: string) => name as SessionId;

const treeOf = (spentUsd: number, reserved: Tree['reserved'] = {}): Tree => ({
  agents: 3,
  spentUsd,
  reserved,
  version: 1,
});
const request = (change: Partial<ReservationRequest> = {}): ReservationRequest => ({
  session: 'own' as SessionId,
  fence: 5,
  usd: 3,
  usdMin: 0.1,
  usdMax: 10,
  at: 1000,
  until: 9000,
  ...change,
});
const reservation = (usd: number, change: Partial<Reservation> = {}): Reservation => ({
  usd,
  fence: 1,
  until: 2000,
  ...change,
});

/** `whole`: what it asked for is granted. */
type Row = [string, MoneyAnswer | 'whole', [Tree, Partial<ReservationRequest>]];

describe('a call is', () => {
  test.each<Row>([
    ['made while there is room for it', 'whole', [treeOf(3, { other: reservation(3) }), {}]],
    ['made where it takes the last of it', 'whole', [treeOf(4, { other: reservation(3) }), {}]],
    ['put off where others have reserved too much', 'busy', [treeOf(4, { other: reservation(3.5) }), {}]],
    ['put off by the sum of all others', 'busy', [treeOf(0, { a: reservation(4), b: reservation(4) }), {}]],
    ['made for what is left where nobody else asks', { grantedUsd: 0.5 }, [treeOf(9.5), { usd: 500 }]],
    ['not made where that pays for no answer', 'spent', [treeOf(9.5), { usd: 500, usdMin: 0.6 }]],
    [
      'put off there while another is made',
      'busy',
      [treeOf(9, { a: reservation(0.5) }), { usd: 500, usdMin: 0.6 }],
    ],
    ['not made once the money is spent', 'spent', [treeOf(10), {}]],
    [
      'not made once more than that is spent, others or not',
      'spent',
      [treeOf(12, { a: reservation(1) }), {}],
    ],
    ['not made where nothing may be spent', 'spent', [treeOf(0), { usdMax: 0 }]],
    [
      'not made for what others had reserved whose time is over',
      'spent',
      [treeOf(4, { other: reservation(6, { until: 1000 }) }), {}],
    ],
    [
      'made for the rest of it',
      { grantedUsd: 1 },
      [treeOf(4, { other: reservation(5, { until: 1000 }) }), {}],
    ],
    ['put off until then', 'busy', [treeOf(4, { other: reservation(6, { until: 1001 }) }), {}]],
    [
      'made again by a session whose function died, beside what that had reserved',
      { grantedUsd: 2 },
      [treeOf(4, { own: reservation(4) }), { usd: 6 }],
    ],
    ['not made for what is unsettled', { grantedUsd: 1 }, [{ ...treeOf(4), unsettledUsd: 5 }, {}]],
    [
      'made once for a request that is sent again',
      'whole',
      [treeOf(4, { own: reservation(6, { call: 'c' }) }), { usd: 6, call: 'c' }],
    ],
    ['put off for an earlier holder', 'busy', [treeOf(0, { own: reservation(1, { fence: 6 }) }), {}]],
    ['made for the same holder', 'whole', [treeOf(0, { own: reservation(1, { fence: 5 }) }), {}]],
  ])('%s', (_what, answer, [tree, change]) => {
    const asked = request(change);
    expect(decideReservation(tree, asked)).toEqual(answer === 'whole' ? { grantedUsd: asked.usd } : answer);
  });
});

test('a reservation replaces its session’s older one and expired ones, which stay counted (TM7)', () => {
  const other = reservation(2);
  const tree = treeOf(1, { own: reservation(4), other, dead: reservation(1, { until: 1000 }) });
  const own = { usd: 3, fence: 5, until: 9000, call: 'c' };
  expect(withReservation(tree, request({ call: 'c' }))).toEqual({
    ...{ reserved: { other, own }, slices: {} },
    unsettledUsd: 5,
  });
  const again = treeOf(1, { own: { ...own, usd: 2 }, other });
  expect(withReservation(again, request({ call: 'c' }))).toEqual({
    ...{ reserved: { other, own }, slices: {} },
    unsettledUsd: 0,
  });
});

const [outer, inner] = [id('outer'), id('inner')];
const slice = (usdMax: number, spentUsd = 0, unsettledUsd = 0) => ({ usdMax, spentUsd, unsettledUsd });
const sliced = (slices: Tree['slices'], reserved: Tree['reserved'] = {}): Tree => ({
  ...treeOf(0, reserved),
  slices,
});

describe('a call of a session that was given a slice is', () => {
  test.each<Row>([
    ['made within it', 'whole', [sliced({ outer: slice(3) }), { slices: [outer] }]],
    [
      'made for what is left of it',
      { grantedUsd: 1 },
      [sliced({ outer: slice(4, 2, 1) }), { slices: [outer] }],
    ],
    [
      'made for what is left of the narrower of two',
      { grantedUsd: 2 },
      [sliced({ outer: slice(3, 1), inner: slice(9) }), { slices: [outer, inner] }],
    ],
    ['not made once it is spent', 'spent', [sliced({ outer: slice(3, 3) }), { slices: [outer] }]],
    [
      'not made where that pays for no answer, whatever the tree has',
      'spent',
      [sliced({ outer: slice(3, 2.95) }, { other: reservation(9) }), { slices: [outer] }],
    ],
    [
      'put off while another of its slice is made',
      'busy',
      [sliced({ outer: slice(4) }, { other: reservation(3, { slices: [outer] }) }), { slices: [outer] }],
    ],
    [
      'put off for none of another slice',
      'whole',
      [sliced({ outer: slice(4) }, { other: reservation(3, { slices: [inner] }) }), { slices: [outer] }],
    ],
    [
      'made for the rest of it where the tree has that left beside others',
      { grantedUsd: 1 },
      [sliced({ outer: slice(1) }, { other: reservation(8) }), { slices: [outer] }],
    ],
    ['not made before it is written', 'spent', [sliced({}), { slices: [outer] }]],
  ])('%s', (_what, answer, [tree, change]) => {
    const asked = request(change);
    expect(decideReservation(tree, asked)).toEqual(answer === 'whole' ? { grantedUsd: asked.usd } : answer);
  });
});

test('a lost reservation is unsettled in each slice that paid for it', () => {
  const lost = reservation(2, { until: 1000, slices: [outer, inner] });
  const tree = sliced({ outer: slice(9), inner: slice(5, 1), other: slice(4) }, { lost });
  expect(withReservation(tree, request()).slices).toEqual({
    ...{ outer: slice(9, 0, 2), inner: slice(5, 1, 2), other: slice(4) },
  });
});

test.each([
  ['the tree', {}, 3],
  ['its slice, if that has less', { slices: [outer] }, 1.5],
])('a session can give away what is left of %s', (_what, change, leftUsd) => {
  const tree = sliced(
    { outer: slice(3, 0.5) },
    { a: reservation(6), own: reservation(1, { slices: [outer] }) },
  );
  const asked = { session: id('own'), at: 1000, usdMax: 10, ...change };
  expect(leftFor(tree, asked).usd).toBe(leftUsd);
});

test('a reservation whose time is over is unsettled, in the tree and in the slices that pay for it', () => {
  const lost = reservation(2, { until: 1000, slices: [outer] });
  const tree = sliced({ outer: slice(9), other: slice(4) }, { lost, own: reservation(1, { until: 1001 }) });
  expect(settledAt(tree, 999)).toMatchObject({ unsettledUsd: 0, reserved: { lost, own: { usd: 1 } } });
  const settled = settledAt(tree, 1000);
  expect(settled).toMatchObject({ unsettledUsd: 2, slices: { outer: slice(9, 0, 2), other: slice(4) } });
  expect(Object.keys(settled.reserved)).toEqual(['own']);
});
