import { describe, expect, test } from 'vitest';
import { emptyShare, poolFor, waitsOfBurst } from './launch-queue.ts';

const launches = { burst: 100, perSecond: 20, startSeconds: 40 };

describe('a burst', () => {
  test('of what the bucket holds waits for one start', () => {
    expect(waitsOfBurst(100, 0, launches)).toEqual({ half: 40, most: 40, last: 40 });
  });

  test('of more waits for the refill of the bucket', () => {
    expect(waitsOfBurst(1000, 0, launches)).toEqual({ half: 60, most: 82.5, last: 85 });
  });

  test('takes the pool first, whose replacements are launches, too', () => {
    expect(waitsOfBurst(100, 50, launches)).toEqual({ half: 0, most: 40, last: 40 });
    expect(waitsOfBurst(1000, 100, launches)).toEqual({ half: 60, most: 82.5, last: 85 });
  });
});

describe('steady demand', () => {
  test('meets no pool always, and a pool of one as the formula says', () => {
    expect(emptyShare(0, 1, 40)).toBe(1);
    expect(emptyShare(1, 0.025, 40)).toBeCloseTo(0.5);
    // Of tables of Erlang's formula: 10 erlangs on 10 lines lose 21.46 %.
    expect(emptyShare(10, 0.25, 40)).toBeCloseTo(0.2146, 4);
  });

  test('needs a pool of the sandboxes that start meanwhile, and some more', () => {
    // 10 erlangs at 1 % need 18 lines.
    expect(poolFor(0.25, launches, 0.01)).toBe(18);
    expect(poolFor(20.1, launches, 0.01)).toBeUndefined();
  });
});
