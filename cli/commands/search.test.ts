import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

const session = {
  ...{ id: 's-1', kind: 'agent', title: 'Mend the parser', project: 'p', status: 'idle', archived: false },
  ...{ createdAt: 'T', lastActiveAt: 'T' },
};
const messages = [
  { messageId: 'm', role: 'user', before: 'the ', match: 'parser', after: ' fails\u001b[2K\nnow' },
];
const page = (found: readonly object[], change: object = {}) => ({
  body: { found, searchedSessions: 25, cutConversations: 0, ...change },
});

test('pages are read until as many sessions are searched as were asked for', async () => {
  await using there = await logIn({
    'GET /api/search?text=parser%20fails': page([{ session, titleFound: true, messages }], { next: 'a' }),
    'GET /api/search?text=parser%20fails&after=a': page([], { next: 'b', cutConversations: 1 }),
  });
  const { stdout, stderr } = await there.run(['sessions', 'search', 'parser', 'fails', '--sessions', '50']);
  expect(stdout.split('\n')).toEqual([
    's-1  T  Mend the parser',
    '  user: the parser fails⟦U+001B⟧[2K now',
    '',
  ]);
  expect(stderr).toContain('Searched the newest 50 sessions. --sessions searches more.');
  expect(stderr).toContain('Of 1 long conversations only the newest messages were searched.');
});

test('a search that finds nothing says so, and as JSON how much it searched', async () => {
  await using there = await logIn({ 'GET /api/search?text=x&project=p': page([]) });
  const args = ['sessions', 'search', 'x', '--project', 'p'];
  expect(await there.run(args)).toMatchObject({ code: 0, stdout: '', stderr: 'Nothing found.\n' });
  expect(JSON.parse((await there.run([...args, '--json'])).stdout)).toEqual({
    ...{ found: [], searchedSessions: 25, cutConversations: 0, hasMore: false },
  });
});
