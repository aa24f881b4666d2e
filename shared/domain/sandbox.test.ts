import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OwnerId, ProjectId, WorkspaceId } from './ids.ts';
import {
  type AcquireStep,
  acquireStep,
  decodeTaskGroup,
  isLastSaveOpen,
  isPreviewPort,
  lastSeen,
  lossOf,
  lostSince,
  nextPort,
  type SandboxRecord,
  serverAddress,
  startPhase,
  startToken,
  taskGroup,
  taskStopReason,
  type Workspace,
} from './sandbox.ts';

const address = 'http://10.0.0.7:8080';
const sandbox = (fields: Partial<SandboxRecord>): SandboxRecord => ({
  generation: 3,
  state: 'starting',
  flavor: 'small',
  template: 'python',
  requestedAt: 1_000_000,
  source: 'cold',
  ...fields,
});
const later = (milliseconds: number): number => 1_000_000 + milliseconds;

describe('the next step of a caller that needs a sandbox', () => {
  const cases: [string, [SandboxRecord | undefined, number], AcquireStep][] = [
    ['none yet', [undefined, 0], { step: 'start' }],
    ['stopped', [sandbox({ state: 'stopped' }), later(1)], { step: 'start' }],
    ['stopping', [sandbox({ state: 'stopping', address }), later(1)], { step: 'wait' }],
    ['ready', [sandbox({ state: 'ready', address }), later(1)], { step: 'use', address }],
    ['ready long ago', [sandbox({ state: 'ready', address }), later(1e9)], { step: 'use', address }],
    ['ready without an address', [sandbox({ state: 'ready' }), later(1)], { step: 'wait' }],
    ['just requested', [sandbox({}), later(0)], { step: 'wait' }],
    ['requested 5 s ago, no task', [sandbox({}), later(5000)], { step: 'wait' }],
    ['requested longer ago, no task', [sandbox({}), later(5001)], { step: 'reissue', generation: 3 }],
    ['requested 5 s ago, a task', [sandbox({ taskArn: 'arn' }), later(5000)], { step: 'wait' }],
    [
      'requested longer ago, a task',
      [sandbox({ taskArn: 'arn' }), later(5001)],
      { step: 'locate', taskArn: 'arn' },
    ],
    ['a task with an address', [sandbox({ taskArn: 'arn', address }), later(1)], { step: 'probe', address }],
    [
      'a task with an address that is late',
      [sandbox({ taskArn: 'arn', address }), later(5001)],
      { step: 'probe', address, lateTask: 'arn' },
    ],
    ['an address, no task known', [sandbox({ address }), later(9000)], { step: 'probe', address }],
    [
      'somebody restores into it',
      [sandbox({ address, restoringUntil: later(9001) }), later(9000)],
      { step: 'wait' },
    ],
    [
      'a restore that has expired',
      [sandbox({ address, restoringUntil: later(9000) }), later(9000)],
      { step: 'probe', address },
    ],
    [
      'a restore that was given back',
      [sandbox({ address, restoringUntil: 0 }), later(9000)],
      { step: 'probe', address },
    ],
    [
      'somebody still restores into it when its time is over',
      [sandbox({ address, restoringUntil: later(200_000) }), later(180_001)],
      { step: 'wait' },
    ],
    [
      'somebody restored into it until its time was over',
      [sandbox({ address, restoringUntil: later(200_000) }), later(200_000)],
      { step: 'give-up' },
    ],
    ['starting for 180 s', [sandbox({ address }), later(180_000)], { step: 'probe', address }],
    ['starting for longer', [sandbox({ taskArn: 'arn', address }), later(180_001)], { step: 'give-up' }],
    ['starting for longer, no task', [sandbox({}), later(180_001)], { step: 'give-up' }],
  ];

  test.each(cases)('%s', (_what, [record, now], expected) => {
    expect(acquireStep(record, now)).toEqual(expected);
  });
});

describe('names that ECS sees', () => {
  const workspaceId = '0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d' as WorkspaceId;

  test('a start token fits the 64 characters of ECS at any generation', () => {
    expect(startToken(workspaceId, 3)).toBe('0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d:3');
    expect(startToken(workspaceId, Number.MAX_SAFE_INTEGER).length).toBeLessThanOrEqual(64);
  });

  test('a task group is read back as it was written', () => {
    expect(taskGroup(workspaceId, 12)).toBe('workspace/0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d/12');
    fc.assert(
      fc.property(fc.uuid(), fc.maxSafeNat(), (id, generation) => {
        const read = decodeTaskGroup(taskGroup(id as WorkspaceId, generation));
        expect(read).toEqual({ workspaceId: id, generation });
      }),
    );
  });

  test.each([
    '',
    'workspace',
    'workspace/',
    'workspace//1',
    'workspace/a',
    'workspace/a/',
    'workspace/a/-1',
    'workspace/a/1x',
    'workspace/a/1/b',
    'family:web',
    'service:web',
    'other/a/1',
  ])('a task of another deployment (group %j) is not recognized', (group) => {
    expect(decodeTaskGroup(group)).toBeUndefined();
  });
});

describe('the report about the sandbox before', () => {
  const cases: [string, SandboxRecord | undefined, string | undefined][] = [
    ['there was none', undefined, undefined],
    ['it lives', sandbox({ state: 'ready', readyAt: 1 }), undefined],
    ['it is being stopped', sandbox({ state: 'stopping', readyAt: 1 }), undefined],
    [
      'it was stopped',
      sandbox({
        ...{ state: 'stopped', readyAt: 1, stoppedReason: 'idle' },
        ...{ stopRequestedAt: 2, taskStopRequestedAt: 3 },
      }),
      undefined,
    ],
    [
      'it ended before it was saved for its stop',
      sandbox({ state: 'stopped', readyAt: 1, stopRequestedAt: 2, stoppedReason: 'Spot interruption' }),
      'Spot interruption',
    ],
    [
      'its last save failed',
      sandbox({ state: 'stopped', readyAt: 1, stopRequestedAt: 2, taskStopRequestedAt: 3, isUnsaved: true }),
      'its last save failed',
    ],
    [
      'its last save failed, and nobody has seen its end yet',
      sandbox({ state: 'stopping', readyAt: 1, stopRequestedAt: 2, taskStopRequestedAt: 3, isUnsaved: true }),
      'its last save failed',
    ],
    [
      'it is saved, and asked to stop',
      sandbox({ state: 'stopping', readyAt: 1, stopRequestedAt: 2, taskStopRequestedAt: 3 }),
      undefined,
    ],
    ['it never became ready', sandbox({ state: 'stopped', stoppedReason: 'no capacity' }), undefined],
    [
      'it never became ready, nor could say what it was to say',
      sandbox({ state: 'stopped', stoppedReason: 'no capacity', lost: 'OutOfMemory' }),
      'OutOfMemory',
    ],
    [
      'it was given up, and could not say what it was to say',
      sandbox({ state: 'stopped', stopRequestedAt: 2, lost: 'OutOfMemory' }),
      'OutOfMemory',
    ],
    [
      'it has said what it was to say, and was stopped',
      sandbox({
        ...{ state: 'stopped', readyAt: 1, lost: 'OutOfMemory' },
        ...{ stopRequestedAt: 2, taskStopRequestedAt: 3 },
      }),
      undefined,
    ],
    [
      'it ended by itself',
      sandbox({ state: 'stopped', readyAt: 1, stoppedReason: 'OutOfMemory' }),
      'OutOfMemory',
    ],
    ['it ended by itself and nobody said why', sandbox({ state: 'stopped', readyAt: 1 }), 'it stopped'],
  ];

  test.each(cases)('%s', (_what, record, expected) => {
    expect(lossOf(record)).toBe(expected);
  });

  test('is one of a turn that began before the stop, also while the end is unseen', () => {
    const stopping = { stopRequestedAt: 2, taskStopRequestedAt: 3, isUnsaved: true as const };
    const lost = { sandbox: sandbox({ state: 'stopping', readyAt: 1, ...stopping }) };
    expect(lostSince(lost, { since: 3, steppedAt: 2 })).toBe('its sandbox was lost: its last save failed');
    expect(lostSince(lost, { since: 4, steppedAt: 4 })).toBeUndefined();
  });
});

describe('the last use of a sandbox', () => {
  const workspace = (fields: Partial<Workspace>): Workspace => ({
    id: 'w' as WorkspaceId,
    owner: 'o' as OwnerId,
    project: 'p' as ProjectId,
    createdAt: 0,
    users: [],
    ...fields,
  });
  const checkpoint = { id: 'c', sha256: 'a', savedAt: 70, files: 1, bytes: 1, packs: [] };
  const cases: [string, Workspace, number][] = [
    ['never, when there is none', workspace({}), 0],
    ['never, before it is ready', workspace({ sandbox: sandbox({}) }), 0],
    ['when it became ready', workspace({ sandbox: sandbox({ readyAt: 50 }) }), 50],
    [
      'when it was saved',
      workspace({ sandbox: sandbox({ readyAt: 50 }), checkpoint: { ...checkpoint, generation: 3 } }),
      70,
    ],
    [
      'when it became ready after a restore of what was saved of it',
      workspace({ sandbox: sandbox({ readyAt: 90 }), checkpoint: { ...checkpoint, generation: 3 } }),
      90,
    ],
    [
      'not when the one before it was saved',
      workspace({ sandbox: sandbox({ readyAt: 50 }), checkpoint: { ...checkpoint, generation: 2 } }),
      50,
    ],
    ['never, when it is gone and saved', workspace({ checkpoint: { ...checkpoint, generation: 3 } }), 0],
  ];

  test.each(cases)('%s', (_what, one, expected) => {
    expect(lastSeen(one)).toBe(expected);
  });
});

describe('preview ports', () => {
  const all = Array.from({ length: 1000 }, (_, index) => 8000 + index);

  test.each<[string, readonly number[], number | undefined]>([
    ['the first is 8000', [], 8000],
    ['the next follows the last one leased', [8000, 8001], 8002],
    ['the last is 8999, and then they begin again', [8999], 8000],
    ['a leased one is passed over', [8001, 8000], 8002],
    ['a leased one is passed over when they begin again', [8000, 8001, 8999], 8002],
    ['one that was asked for moves the round', [8000, 8500], 8501],
    ['the one that is left is found', all.filter((port) => port !== 8998), 8998],
    [
      'the one just before the last is found',
      [...all.filter((port) => port !== 8400 && port !== 8401), 8401],
      8400,
    ],
    ['there is none when all are leased', all, undefined],
  ])('%s', (_what, leased, expected) => {
    expect(nextPort(leased)).toBe(expected);
  });

  test('are all leased once when leased one after the other', () => {
    const leased: number[] = [];
    for (let port = nextPort(leased); port !== undefined; port = nextPort(leased)) leased.push(port);
    expect(leased).toEqual(all.filter((port) => port !== 8080));
  });

  test.each<[number, boolean]>([
    [1023, false],
    [1024, true],
    [4096, false],
    [8000, true],
    [8080, false],
    [19_998, false],
    [19_999, false],
    [65_535, true],
    [65_536, false],
    [8000.5, false],
    [Number.NaN, false],
    [-8000, false],
  ])('%d is one of them: %s', (port, expected) => {
    expect(isPreviewPort(port)).toBe(expected);
  });
});

test('the server of a sandbox listens on one port', () => {
  expect(serverAddress('10.0.0.7')).toBe('http://10.0.0.7:8080');
});

test.each([
  [{}, 'requested'],
  [{ taskArn: 'task' }, 'placed'],
  [{ taskArn: 'task', address }, 'booting'],
  [{ taskArn: 'task', address, restoringUntil: later(5) }, 'restoring'],
  [{ taskArn: 'task', address, restoringUntil: later(4) }, 'booting'],
] as const)('a start at %j is %s', (fields, phase) => {
  expect(startPhase(fields, later(4))).toBe(phase);
});

test.each<[Parameters<typeof taskStopReason>[0], string]>([
  [{}, ''],
  [{ reason: '', stoppedReason: '' }, ''],
  [{ exitCode: 0 }, 'exit code 0'],
  [{ stoppedReason: 'idle' }, 'idle'],
  [{ reason: 'OutOfMemoryError', exitCode: 137 }, 'OutOfMemoryError; exit code 137'],
  [{ exitCode: 143, stoppedReason: 'idle' }, 'exit code 143; idle'],
  [
    {
      reason: 'OutOfMemoryError: Container killed due to memory usage',
      exitCode: 137,
      stoppedReason: 'Essential container in task exited',
    },
    'OutOfMemoryError: Container killed due to memory usage; exit code 137; Essential container in task exited',
  ],
])('of %j a task says %j', (task, expected) => {
  expect(taskStopReason(task)).toBe(expected);
});

test.each<[string, Partial<SandboxRecord>, boolean]>([
  ['that is being stopped', { state: 'stopping', readyAt: 1 }, true],
  ['that works', { state: 'ready', readyAt: 1 }, false],
  ['that was never ready', { state: 'stopping' }, false],
  ['whose task was asked to stop', { state: 'stopping', readyAt: 1, taskStopRequestedAt: 2 }, false],
  ['over which a snapshot was restored', { state: 'stopping', readyAt: 1, isDiscarded: true }, false],
])('the last save of a sandbox %s', (_, fields, isOpen) => {
  expect(isLastSaveOpen(sandbox(fields))).toBe(isOpen);
});
