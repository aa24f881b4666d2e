import { expect, test } from 'vitest';
import { newExecution } from '../../../tests/conformance/session-fixture.ts';
import type { ToolContext } from '../define-tool.ts';
import { getSessions } from './execution-sessions.ts';

test.each([
  ['python', 'python'],
  ['node', 'node'],
  ['science', 'python'],
])('a session of template %s runs %s where code names no language', async (template, language) => {
  const session = newExecution({ template, status: 'ready' });
  const ports = {
    slots: { read: async () => ({ taken: [] }) },
    sessions: {
      list: async () => ({ sessions: [session] }),
      listOfProject: async () => ({ sessions: [session] }),
    },
    projects: { list: async () => ({ projects: [] }) },
    world: { now: () => session.createdAt + 2500 },
  };
  const context = { ports, principal: { scope: 'admin', owner: session.owner } } as unknown as ToolContext;
  expect(await getSessions.run({}, context)).toEqual({
    sessions: [
      {
        id: session.id,
        language,
        flavor: 'micro',
        status: 'ready',
        created_at: '1970-01-01T00:00:01.000Z',
        last_accessed: '1970-01-01T00:00:01.000Z',
        uptime_seconds: 2,
      },
    ],
  });
});
