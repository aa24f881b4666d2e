import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

test('the network of a session is shown with the hosts that it reached', async () => {
  const rule = { host: 'a.org', header: 'authorization', secret: 'TOKEN' };
  const data = { host: 'a.org', port: 443, allowed: true, bytesIn: 20, bytesOut: 10, connections: 2 };
  await using there = await logIn({
    'GET /api/sessions/s': { body: { id: 's', network: { allow: ['a.org', 'b.org'], inject: [rule] } } },
    'GET /api/sessions/s/events?since_index=-1&max_events=1000': {
      body: { events: [{ index: 0, type: 'egress', at: 'T', data, sessionId: 's' }] },
    },
    'GET /api/sessions/n': { body: { id: 'n', network: 'none' } },
    'GET /api/sessions/n/events?since_index=-1&max_events=1000': { body: { events: [] } },
  });
  const { stdout } = await there.run(['network', 's']);
  expect(stdout).toContain('a.org, b.org');
  expect(stdout).toContain('TOKEN in authorization of a.org');
  expect(stdout).toMatch(/a\.org:443 +allowed +2 +20 +10 +T/);
  expect((await there.run(['network', 'n'])).stdout).toContain('No connection is in the log.');
});
