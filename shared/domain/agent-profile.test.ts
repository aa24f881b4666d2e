import { expect, test } from 'vitest';
import { fitsProject, isShortEnough, joinInstructions, toolsAllowedBy } from './agent-profile.ts';
import { instructionsBytesMax, projectInstructionsBytesMax } from './limits.ts';

test('instructions are joined from the general to the particular', () => {
  expect(joinInstructions('Be brief.', undefined, ' \n', 'Answer in French.')).toBe(
    'Be brief.\n\nAnswer in French.',
  );
  expect(joinInstructions(undefined, '')).toBeUndefined();
});

test('instructions are bounded in bytes', () => {
  expect(isShortEnough('é'.repeat(instructionsBytesMax / 2))).toBe(true);
  expect(isShortEnough(`${'é'.repeat(instructionsBytesMax / 2)}x`)).toBe(false);
  const agents = [{ name: 'a', instructions: 'x'.repeat(projectInstructionsBytesMax) }];
  expect([fitsProject({}), fitsProject({ agents })]).toEqual([true, false]);
});

test.each([
  [undefined, undefined, undefined],
  [['a', 'b'], undefined, ['a', 'b']],
  [undefined, ['b'], ['b']],
  [['a', 'b'], ['b', 'c'], ['b']],
])('an agent with tools %j in a session with %j is offered %j', (agent, session, both) => {
  expect(toolsAllowedBy(agent, session)).toEqual(both);
});
