/** The bound of what a thread of functions keeps of what is soon forgotten. */
import { expect, test } from 'vitest';
import { youngBound } from './worker-host.ts';

test('a thread has a small one, unless its process was started with another', () => {
  expect(youngBound(['--inspect'])).toEqual({ maxYoungGenerationSizeMb: 6 });
  expect(youngBound(['--max-semi-space-size=32'])).toEqual({});
});
