import { expect, test } from 'vitest';
import { firstGenerationAt, isFirstGeneration, nextGeneration } from './generation.ts';
import { startToken, type Workspace } from './sandbox.ts';

const made = 1_800_000_000_000;
const workspace = (fields: object): Workspace => fields as Workspace;
const after = (generation: number) => nextGeneration(workspace({ sandbox: { generation } }));

test('generations count up from one, or from the first of their workspace', () => {
  expect([nextGeneration(workspace({})), after(1), after(7)]).toEqual([1, 2, 8]);
  const firstGeneration = firstGenerationAt(made);
  expect(nextGeneration(workspace({ firstGeneration }))).toBe(firstGeneration);
  expect(after(firstGeneration)).toBe(firstGeneration + 1);
});

test('the first is known as such, also of a workspace that may have had a forerunner', () => {
  const first = firstGenerationAt(made + 999);
  expect([1, first, 2, first + 1].map(isFirstGeneration)).toEqual([true, true, false, false]);
});

test('one made a second later begins above all that the earlier one can have had', () => {
  expect(firstGenerationAt(made + 1000)).toBeGreaterThan(firstGenerationAt(made) + 900_000);
});

test('a generation is an exact number, and its token is not too long for ECS, for two centuries', () => {
  const late = firstGenerationAt(Date.UTC(2226, 0));
  expect(Number.isSafeInteger(late + 1_000_000)).toBe(true);
  const { id } = workspace({ id: crypto.randomUUID() });
  expect(startToken(id, late).length).toBeLessThanOrEqual(64);
});
