import { expect, test } from 'vitest';
import { drawnRows, wholeRowsMax } from './drawn-rows.ts';

const heights = (count: number): readonly number[] => Array.from({ length: count }, () => 50);
const view = (topPx: number) => ({ topPx, bottomPx: topPx + 800 });

test('a short table is drawn whole', () => {
  expect(drawnRows(heights(wholeRowsMax), view(0))).toMatchObject({ first: 0, end: wholeRowsMax });
});

test('of a long table the rows in view are drawn, with some around them, wherever the view is', () => {
  const all = heights(1000);
  for (let topPx = -500; topPx < 51_000; topPx += 130) {
    const { first, end, abovePx, belowPx } = drawnRows(all, view(topPx));
    expect(end - first).toBeLessThanOrEqual(35);
    expect(abovePx + 50 * (end - first) + belowPx).toBe(50_000);
    expect(abovePx).toBeLessThanOrEqual(Math.max(0, topPx));
    expect(50_000 - belowPx).toBeGreaterThanOrEqual(Math.min(50_000, topPx + 800));
  }
});

test('rows of several heights leave the room that they take', () => {
  const all = Array.from({ length: 200 }, (_, index) => 40 + (index % 3) * 20);
  const { first, end, abovePx, belowPx } = drawnRows(all, view(6000));
  const sum = (from: number, to: number) => all.slice(from, to).reduce((total, px) => total + px, 0);
  expect([abovePx, belowPx]).toEqual([sum(0, first), sum(end, 200)]);
});
