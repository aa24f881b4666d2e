import { expect, test } from 'vitest';
import { janitorTask } from './background-tasks.ts';
import { decode } from './decode.ts';

const project = '11111111-2222-4333-8444-555555555555';

test.each([
  { sweep: 'due' },
  { sweep: 'slots' },
  { sweep: 'orphans' },
  { sweep: 'pool' },
  { sweep: 'pool', correlationId: 'c' },
  { sweep: 'stop', workspaceId: 'w' },
  { sweep: 'stop', workspaceId: 'w', correlationId: 'c' },
  { sweep: 'mcp' },
  { sweep: 'mcp', forSeconds: 50 },
  { sweep: 'mcp-server', project, name: 'n', correlationId: 'c' },
])('%j is a task of the janitor', (task) => {
  expect(decode(janitorTask, task)).toEqual({ ok: true, value: task });
});

test('extra fields of a rule are dropped', () => {
  expect(decode(janitorTask, { sweep: 'due', time: 'now' })).toEqual({ ok: true, value: { sweep: 'due' } });
});

test.each([
  undefined,
  null,
  'due',
  {},
  { sweep: 'everything' },
  { sweep: 'stop' },
  { sweep: 'stop', workspaceId: '' },
  { sweep: 'stop', workspaceId: 5 },
  { sweep: 'due', correlationId: 5 },
  { sweep: 'mcp', forSeconds: 0.5 },
  { sweep: 'mcp', forSeconds: 600 },
  { sweep: 'mcp-server', project },
  { sweep: 'mcp-server', project: 'p', name: 'n' },
  { sweep: 'mcp-server', project, name: '' },
])('%j is not', (task) => {
  expect(decode(janitorTask, task).ok).toBe(false);
});
