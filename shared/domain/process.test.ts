/** The processes that keep their sandbox, and those that end with it. */
import { expect, test } from 'vitest';
import type { SessionId, WorkspaceId } from './ids.ts';
import { firstProcessMs, processLookMs, processSecondsMax } from './limits.ts';
import { keptUntil, lostWith, type ProcessRecord, type RunningProcess } from './process.ts';

const running = { state: 'running', isPty: false, attached: 0 } as const;
const terminal = { ...running, isPty: true };

test.each([
  ['none', [], undefined],
  ['one that runs', [running], firstProcessMs + 1000 + processLookMs],
  ['one that has ended', [{ ...running, state: 'exited' as const }], undefined],
  ['a terminal that nobody looks at', [terminal], undefined],
  ['a terminal with a reader', [{ ...terminal, attached: 1 }], firstProcessMs + 1000 + processLookMs],
  ['the readers of one that has ended', [{ ...running, state: 'lost' as const, attached: 2 }], undefined],
])('%s', (_, processes, until) => {
  const now = firstProcessMs + 1000;
  expect(keptUntil({ readyAt: 0 }, processes, now)).toBe(until);
});

test('a sandbox that is ready for its first process waits for it', () => {
  const kept = (processes: readonly RunningProcess[], now: number) =>
    keptUntil({ readyAt: 1000 }, processes, now);
  expect(kept([], 1500)).toBe(1000 + firstProcessMs);
  expect(kept([], 1000 + firstProcessMs)).toBeUndefined();
  expect(kept([{ ...running, state: 'exited' }], 1500)).toBeUndefined();
  expect(keptUntil({ readyAt: 1000, lifetimeMs: 700 }, [], 1500)).toBe(1700);
});

test('not beyond the lifetime of a sandbox', () => {
  const lifetimeMs = processSecondsMax * 1000;
  expect(keptUntil({ readyAt: 5 }, [running], lifetimeMs)).toBe(lifetimeMs + 5);
  expect(keptUntil({ readyAt: 5 }, [running], lifetimeMs + 5)).toBeUndefined();
});

test('lost with a sandbox are its own that have not ended', () => {
  const record = (generation: number, endedAt?: number): ProcessRecord => ({
    ...{ id: 'p', workspace: 'w' as WorkspaceId, session: 's' as SessionId, command: 'sleep', isPty: false },
    ...{ generation, startedAt: 1, ...(endedAt === undefined ? {} : { endedAt }) },
  });
  expect(lostWith([record(1), record(2), record(2), record(2, 9), record(3)], 2)).toHaveLength(2);
});
