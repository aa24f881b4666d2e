/** Two sandbox hosts at once on one machine: as root, none of their processes is the same user. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sandboxProcesses } from '../e2e/sandbox-processes.ts';
import { type HostProgram, startHostProgram } from './host-program.ts';

let hosts: readonly HostProgram[] = [];
beforeAll(async () => {
  hosts = await Promise.all([startHostProgram(), startHostProgram()]);
});
afterAll(async () => {
  for (const host of hosts) await host.stop();
});

const usersOf = ({ home }: HostProgram): ReadonlySet<string> =>
  new Set(
    sandboxProcesses(home).map(
      ({ pid }) => /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '',
    ),
  );

test('each has its own user id, which no other sandbox has', () => {
  const [one = new Set(), two = new Set()] = hosts.map(usersOf);
  const isRoot = process.getuid?.() === 0;
  expect([one.size, two.size]).toEqual([1, 1]);
  expect(one.isDisjointFrom(two)).toBe(isRoot);
});
