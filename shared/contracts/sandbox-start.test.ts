import { describe, expect, test } from 'vitest';
import {
  notSavedEntry,
  type SandboxStart,
  sharedNotSavedEntry,
  startEntries,
  startNotice,
  stoppedEntry,
} from './sandbox-start.ts';

const savedAt = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
const savedIso = '2026-01-02T03:04:05.006Z';
const start: SandboxStart = { startMs: 1234, source: 'cold', generation: 2 };
const restored = { files: 7, savedAt, missing: [] };
const lost = 'OutOfMemoryError; exit code 137';
const missing = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ path: `f${index}`, reason: 'too large' }));
const paths = (count: number) => missing(count).map(({ path }) => path);

describe('the log of a start has', () => {
  test('its duration and source', () => {
    expect(startEntries(start)).toEqual([
      { type: 'system', data: { kind: 'sandbox_started', startMs: 1234, source: 'cold' } },
    ]);
    expect(startEntries({ ...start, source: 'pool', lost })).toEqual([
      { type: 'system', data: { kind: 'sandbox_started', startMs: 1234, source: 'pool' } },
    ]);
  });

  test('the restored checkpoint and its time', () => {
    expect(startEntries({ ...start, restored })).toEqual([
      { type: 'system', data: { kind: 'sandbox_started', startMs: 1234, source: 'cold', restored: 7 } },
      { type: 'system', data: { kind: 'workspace_restored', files: 7, savedAt: savedIso, missing: [] } },
    ]);
  });

  test('files that were not restored: twenty by name, and the number of others', () => {
    const reportsMissing = (count: number) =>
      startEntries({ ...start, restored: { ...restored, missing: missing(count) } })[1]?.data;
    const data = { kind: 'workspace_restored', files: 7, savedAt: savedIso };
    expect(reportsMissing(20)).toEqual({ ...data, missing: paths(20) });
    expect(reportsMissing(21)).toEqual({ ...data, missing: paths(20), missingCount: 21 });
  });

  test('the reason of a failed restore', () => {
    const refused = 'its hash is another';
    expect(startEntries({ ...start, restored: { files: 0, savedAt, missing: [], refused } })[1]).toEqual({
      type: 'system',
      data: { kind: 'workspace_restored', files: 0, savedAt: savedIso, missing: [], refused },
    });
  });
});

describe('of the shared volume', () => {
  const shared = { files: 3, missing: missing(21) };

  test('the log has the number of files, missing ones, and the reason', () => {
    expect(startEntries({ ...start, shared })[1]).toEqual({
      type: 'system',
      data: { kind: 'shared_restored', files: 3, missing: paths(20), missingCount: 21 },
    });
    expect(startEntries({ ...start, shared: { files: 0, missing: [], failed: 'it broke off' } })[1]).toEqual({
      type: 'system',
      data: { kind: 'shared_restored', files: 0, missing: [], failed: 'it broke off' },
    });
  });

  test('the agent is told of missing files, and nothing of a complete volume', () => {
    expect(startNotice({ ...start, shared: { files: 3, missing: [] } })).toBeUndefined();
    expect(startNotice({ ...start, shared: { files: 0, missing: missing(1), failed: 'no' } })).toBe(
      '[The shared volume could not be restored: no. These files of the shared volume did not come: f0 (too large).]',
    );
  });

  test('the log has the reason of a failed save', () => {
    expect(sharedNotSavedEntry('over 2 GB')).toEqual({
      type: 'system',
      data: { kind: 'shared_not_saved', reason: 'over 2 GB' },
    });
  });
});

describe('the agent is told', () => {
  const cases: [string, SandboxStart, string | undefined][] = [
    ['nothing of a first start', start, undefined],
    ['nothing of a whole restore', { ...start, restored }, undefined],
    [
      'of a loss before anything was saved',
      { ...start, lost },
      '[The sandbox before this one was lost: OutOfMemoryError; exit code 137. Running programs were lost. Nothing had been saved: the workspace is empty.]',
    ],
    [
      'of processes that ended with their sandbox, the latest ten by name',
      {
        ...start,
        lostProcesses: Array.from({ length: 11 }, (_, index) => ({
          id: `p${index}`,
          command: 'make\n  all',
        })),
      },
      `[These background processes ended with their sandbox: ${Array.from({ length: 10 }, (_, index) => `p${index + 1} (make all)`).join(', ')} and 1 more.]`,
    ],
    ['nothing of processes when none was lost', { ...start, lostProcesses: [] }, undefined],
    [
      'of a loss, and what its files are as of',
      { ...start, lost, restored },
      '[The sandbox before this one was lost: OutOfMemoryError; exit code 137. Running programs were lost. Files are as they were at 2026-01-02T03:04:05.006Z; later changes are lost.]',
    ],
    [
      'of a refused restore',
      { ...start, restored: { ...restored, files: 0, refused: 'its hash is another' } },
      '[The workspace could not be restored: its hash is another.]',
    ],
    [
      'which files did not come back, and why',
      { ...start, restored: { ...restored, missing: missing(2) } },
      '[These files did not come back: f0 (too large), f1 (too large).]',
    ],
    [
      'of all of it',
      { ...start, lost: 'it stopped', restored: { ...restored, missing: missing(1), refused: 'no' } },
      '[The sandbox before this one was lost: it stopped. Running programs were lost. Files are as they were at 2026-01-02T03:04:05.006Z; later changes are lost. The workspace could not be restored: no. These files did not come back: f0 (too large).]',
    ],
  ];

  test.each(cases)('%s', (_what, one, expected) => {
    expect(startNotice(one)).toBe(expected);
  });

  test('twenty missing files by name, and the number of others', () => {
    const said = (count: number) =>
      startNotice({ ...start, restored: { ...restored, missing: missing(count) } }) ?? '';
    expect(said(20).endsWith(', f19 (too large).]')).toBe(true);
    expect(said(23).endsWith(', f19 (too large) and 3 more.]')).toBe(true);
  });
});

describe('the log of an end has', () => {
  test('the reason of the stop, and the time since which changes are lost', () => {
    expect(stoppedEntry('idle', savedAt)).toEqual({
      type: 'system',
      data: { kind: 'sandbox_stopped', reason: 'idle', savedAt: savedIso },
    });
    expect(stoppedEntry('idle', undefined)).toEqual({
      type: 'system',
      data: { kind: 'sandbox_stopped', reason: 'idle' },
    });
  });

  test('the reason of a failed save, and the checkpoint in force', () => {
    expect(notSavedEntry('over 2 GB', savedAt)).toEqual({
      type: 'system',
      data: { kind: 'workspace_not_saved', reason: 'over 2 GB', savedAt: savedIso },
    });
    expect(notSavedEntry('over 2 GB', undefined)).toEqual({
      type: 'system',
      data: { kind: 'workspace_not_saved', reason: 'over 2 GB' },
    });
  });
});
