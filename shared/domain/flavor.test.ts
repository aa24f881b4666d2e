import { expect, test } from 'vitest';
import {
  decodeFlavor,
  type Flavor,
  flavors,
  sessionCpusMax,
  sessionMemoryMbMax,
  smallerFlavor,
} from './flavor.ts';

test('each flavor is the smallest Fargate task that holds its limit and the server', () => {
  expect(flavors).toEqual({
    micro: { cpus: 0.5, memoryMb: 512, task: { cpuUnits: 512, memoryMib: 1024 } },
    small: { cpus: 1, memoryMb: 1024, task: { cpuUnits: 1024, memoryMib: 2048 } },
    medium: { cpus: 2, memoryMb: 2048, task: { cpuUnits: 2048, memoryMib: 4096 } },
    large: { cpus: 4, memoryMb: 4096, task: { cpuUnits: 4096, memoryMib: 8192 } },
  });
});

test.each([
  ['small', 'small'],
  ['SMALL', 'small'],
  ['MiCrO', 'micro'],
  ['huge', undefined],
  ['', undefined],
  [' small', undefined],
  ['constructor', undefined],
  ['__proto__', undefined],
])('the flavor %j is %j', (name, expected) => {
  expect(decodeFlavor(name)).toBe(expected);
});

test.each<[Flavor, Flavor | undefined]>([
  ['large', 'medium'],
  ['medium', 'small'],
  ['small', 'micro'],
  ['micro', undefined],
])('smaller than %s is %s', (flavor, expected) => {
  expect(smallerFlavor(flavor)).toBe(expected);
});

test('no flavor exceeds the limits of one session', () => {
  expect([sessionCpusMax, sessionMemoryMbMax]).toEqual([8, 8192]);
  const over = Object.values(flavors).filter(
    ({ cpus, memoryMb }) => cpus > sessionCpusMax || memoryMb > sessionMemoryMbMax,
  );
  expect(over).toEqual([]);
});
