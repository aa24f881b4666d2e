import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

test('an export is Markdown, and with --json what a program reads', async () => {
  const session = {
    ...{ id: 's', provider: 'demo', model: 'demo', createdAt: '', costUsd: 0 },
    usage: { inputTokens: 0, outputTokens: 0 },
  };
  await using there = await logIn({
    'GET /api/sessions/s': { body: session },
    'GET /api/sessions/s/events?since_index=-1': { body: { events: [], hasMore: false, droppedEvents: 0 } },
  });
  expect((await there.run(['sessions', 'export', 's'])).stdout).toContain('# Session s');
  const toFile = ['sessions', 'export', 's', '--output', 'conversation.md'];
  expect((await there.run(toFile)).stdout).toBe('Wrote conversation.md.\n');
  expect((await there.run(toFile)).stderr).toContain('conversation.md exists, and is not overwritten');
  expect((await there.run([...toFile.slice(0, -1), 'none/c.md'])).stderr).toContain(
    'none/c.md cannot be written: ENOENT (file_not_written)',
  );
  const { code, stdout } = await there.run(['sessions', 'export', 's', '--json']);
  expect([code, JSON.parse(stdout)]).toEqual([0, { session, eventsAreMissing: false, events: [] }]);
});

test('the events of a message are named by a command that the program takes', async () => {
  await using there = await logIn({
    'POST /api/sessions/s/messages': { status: 202, body: { messageId: 'm', lastSeq: -1 } },
    'GET /api/sessions/s/events?since_index=-1': { body: { events: [] } },
  });
  const { stdout } = await there.run(['sessions', 'message', 's', 'hi']);
  const [, line = ''] = /`sallyport (.*)`/.exec(stdout) ?? [];
  expect(await there.run(line.split(' '))).toMatchObject({ code: 0, stderr: '' });
});
