import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WorkspaceId } from './ids.ts';
import {
  type AcquireStep,
  acquireStep,
  decodeTaskGroup,
  type SandboxRecord,
  startToken,
  taskGroup,
} from './sandbox.ts';

const address = 'http://10.0.0.7:8080';
const sandbox = (fields: Partial<SandboxRecord>): SandboxRecord => ({
  generation: 3,
  state: 'starting',
  flavor: 'small',
  template: 'python',
  requestedAt: 1_000_000,
  ...fields,
});
const later = (milliseconds: number): number => 1_000_000 + milliseconds;

describe('what a caller who needs a sandbox does next', () => {
  const cases: [string, [SandboxRecord | undefined, number], AcquireStep][] = [
    ['none yet', [undefined, 0], { step: 'start', generation: 1 }],
    ['stopped', [sandbox({ state: 'stopped' }), later(1)], { step: 'start', generation: 4 }],
    ['stopping', [sandbox({ state: 'stopping', address }), later(1)], { step: 'wait' }],
    ['ready', [sandbox({ state: 'ready', address }), later(1)], { step: 'use', address }],
    ['ready long ago', [sandbox({ state: 'ready', address }), later(1e9)], { step: 'use', address }],
    ['ready without an address', [sandbox({ state: 'ready' }), later(1)], { step: 'wait' }],
    ['just requested', [sandbox({}), later(0)], { step: 'wait' }],
    ['requested 5 s ago, no task', [sandbox({}), later(5000)], { step: 'wait' }],
    ['requested longer ago, no task', [sandbox({}), later(5001)], { step: 'reissue', generation: 3 }],
    ['requested longer ago, a task', [sandbox({ taskArn: 'arn' }), later(5001)], { step: 'wait' }],
    ['a task with an address', [sandbox({ taskArn: 'arn', address }), later(1)], { step: 'probe', address }],
    ['an address, no task known', [sandbox({ address }), later(9000)], { step: 'probe', address }],
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
  ])('a task of somebody else (group %j) is not ours', (group) => {
    expect(decodeTaskGroup(group)).toBeUndefined();
  });
});
