/** Usage of sessions by day, model and project. */
import { expect, test } from 'vitest';
import { groupingFrom, totalOf, usageGroups } from './usage-page.vue';

const session = (createdAt: string, model: string, costUsd: number) => ({
  ...{ kind: 'agent', createdAt, provider: 'anthropic', model, project: `p-${model}`, costUsd },
  usage: { inputTokens: 10, outputTokens: 2 },
});
const naming = { dayOf: (iso: string) => iso.slice(0, 10), projectName: (id: string) => `Project ${id}` };
const sessions = [
  session('2026-11-24T10:00:00Z', 'small', 0.5),
  session('2026-11-25T09:00:00Z', 'large', 2),
  session('2026-11-25T23:00:00Z', 'small', 1),
  { ...session('2026-11-25T23:30:00Z', 'none', 0), kind: 'execution' },
] as never[];

test('days come from the newest', () => {
  expect(usageGroups(sessions, 'day', naming)).toEqual([
    { name: '2026-11-25', sessions: 3, inputTokens: 30, outputTokens: 6, costUsd: 3 },
    { name: '2026-11-24', sessions: 1, inputTokens: 10, outputTokens: 2, costUsd: 0.5 },
  ]);
});

test('models come from the most expensive, and code alone has none', () => {
  expect(usageGroups(sessions, 'model', naming).map(({ name, costUsd }) => [name, costUsd])).toEqual([
    ['Anthropic · large', 2],
    ['Anthropic · small', 1.5],
    ['No model', 0],
  ]);
});

test('projects have their names, and the groups add up to the total', () => {
  const groups = usageGroups(sessions, 'project', naming);
  expect(groups.map(({ name }) => name)).toEqual(['Project p-large', 'Project p-small', 'Project p-none']);
  expect(groups.reduce((sum, { costUsd }) => sum + costUsd, 0)).toBe(totalOf(sessions).costUsd);
});

test('an address without a known grouping shows days', () => {
  expect([groupingFrom('model'), groupingFrom('hour'), groupingFrom(undefined)]).toEqual([
    'model',
    'day',
    'day',
  ]);
});
