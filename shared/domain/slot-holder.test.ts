import { expect, test } from 'vitest';
import type { OwnerId, ProjectId } from './ids.ts';
import { slotHolderOf, slotsMax } from './slot-holder.ts';

const owner = 'o' as OwnerId;
const project = 'p' as ProjectId;

test('execution sessions count per owner, agent sessions per project', () => {
  expect(slotHolderOf({ kind: 'execution', owner, project })).toBe('execution#o');
  expect(slotHolderOf({ kind: 'agent', owner, project })).toBe('agent#p');
});

test('an owner and a project of one name do not share slots', () => {
  const same = 'x' as OwnerId & ProjectId;
  const holders = (['execution', 'agent'] as const).map((kind) =>
    slotHolderOf({ kind, owner: same, project: same }),
  );
  expect(holders).toEqual(['execution#x', 'agent#x']);
});

test('each kind has its own number of slots', () => {
  const limits = { executionMax: 3, agentMax: 7, conversationsMax: 100, evictsIdle: true };
  expect([slotsMax('execution', limits), slotsMax('agent', limits)]).toEqual([3, 7]);
});
