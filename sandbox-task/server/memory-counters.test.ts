import { mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMemoryCounters } from './memory-counters.ts';

test('a new measurement keeps the peak of a running one', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'sallyport-counters-'));
  const peak = join(folder.path, 'memory.max_usage_in_bytes');
  writeFileSync(join(folder.path, 'memory.oom_control'), 'oom_kill 0\n');
  writeFileSync(peak, '0');
  const counters = openMemoryCounters(folder.path);
  const first = counters?.measurePeak();
  writeFileSync(peak, String(50 * 1_048_576));
  const second = counters?.measurePeak();
  // As the kernel does at a reset: the peak is what is used now.
  writeFileSync(peak, String(10 * 1_048_576));
  expect([first?.readMb(), second?.readMb()]).toEqual([50, 10]);
  first?.end();
  second?.end();
});

test('where the peak cannot be reset, an old peak is not reported for a later measurement', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'sallyport-counters-'));
  const bytesOf = (megabytes: number): string => String(megabytes * 1_048_576);
  writeFileSync(join(folder.path, 'memory.events'), 'oom_kill 1\n');
  const peak = join(folder.path, 'memory.peak');
  const current = join(folder.path, 'memory.current');
  writeFileSync(peak, bytesOf(500));
  writeFileSync(current, bytesOf(20));
  const measurement = openMemoryCounters(folder.path, { canReset: false })?.measurePeak();
  writeFileSync(current, bytesOf(40));
  measurement?.sample();
  writeFileSync(current, bytesOf(30));
  expect(measurement?.readMb()).toBe(40);
  writeFileSync(peak, bytesOf(501));
  expect(measurement?.readMb()).toBe(501);
  measurement?.end();
});

test('the counters of version 1 are found in the folder of their controller, as a container sees them', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'sallyport-counters-'));
  const controller = join(folder.path, 'memory');
  mkdirSync(controller);
  for (const other of ['cpu', 'pids']) mkdirSync(join(folder.path, other));
  writeFileSync(join(controller, 'memory.oom_control'), 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n');
  const peak = join(controller, 'memory.max_usage_in_bytes');
  writeFileSync(peak, '0');
  const counters = openMemoryCounters(folder.path);
  const measurement = counters?.measurePeak();
  writeFileSync(peak, String(30 * 1_048_576));
  expect([counters?.oomKills(), measurement?.readMb()]).toEqual([2, 30]);
  measurement?.end();
});
