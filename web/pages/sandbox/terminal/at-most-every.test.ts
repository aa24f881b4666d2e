import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { atMostEvery } from './at-most-every.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('keys that are lost one after the other are told once, and again after a while', () => {
  let told = 0;
  const tell = atMostEvery(() => {
    told += 1;
  }, 6000);
  for (let key = 0; key < 10; key += 1) tell();
  expect(told).toBe(1);
  vi.advanceTimersByTime(5999);
  tell();
  expect(told).toBe(1);
  vi.advanceTimersByTime(1);
  tell();
  expect(told).toBe(2);
});
