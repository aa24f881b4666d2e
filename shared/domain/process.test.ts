/** The processes that keep their sandbox, and those that end with it. */
import { expect, test } from 'vitest';
import type { SessionId, WorkspaceId } from './ids.ts';
import { processLookMs, processSecondsMax } from './limits.ts';
import { keptUntil, lostWith, type ProcessRecord } from './process.ts';

const running = { state: 'running', isPty: false, attached: 0 } as const;
const terminal = { ...running, isPty: true };

test.each([
  ['none', [], undefined],
  ['one that runs', [running], 1000 + processLookMs],
  ['one that has ended', [{ ...running, state: 'exited' as const }], undefined],
  ['a terminal that nobody looks at', [terminal], undefined],
  ['a terminal with a reader', [{ ...terminal, attached: 1 }], 1000 + processLookMs],
  ['the readers of one that has ended', [{ ...running, state: 'lost' as const, attached: 2 }], undefined],
])('%s', (_, processes, until) => {
  expect(keptUntil({ readyAt: 0 }, processes, 1000)).toBe(until);
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
