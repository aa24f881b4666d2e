import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

const rule = ['--inject', 'a.org:443/authorization=TOKEN'];
const listed = ['--network', 'a.org', '--network', '*.b.org'];
const inject = [{ host: 'a.org:443', header: 'authorization', secret: 'TOKEN' }];

test('rules for secrets are set with the hosts of a project, and chosen for a session', async () => {
  await using there = await logIn({
    'PATCH /api/projects/p': { body: { id: 'p', name: 'p' } },
    'POST /api/projects': { status: 201, body: { id: 'q', name: 'q' } },
    'PATCH /api/sessions/s': { body: { id: 's' } },
  });
  const sent = async (args: readonly string[]): Promise<unknown> => {
    const { stderr, code } = await there.run([...args]);
    expect([stderr, code]).toEqual(['', 0]);
    return JSON.parse(there.fake.asked.at(-1)?.body ?? '');
  };
  const allow = ['a.org', '*.b.org'];
  expect(await sent(['projects', 'update', 'p', ...listed, ...rule])).toEqual({ network: { allow, inject } });
  expect(await sent(['projects', 'create', 'q', ...listed, ...rule])).toMatchObject({
    network: { allow, inject },
  });
  expect(await sent(['sessions', 'update', 's', ...listed, ...rule])).toEqual({ network: { allow, inject } });
  expect(await sent(['sessions', 'update', 's', ...listed, '--inject', 'none'])).toEqual({
    network: { allow, inject: [] },
  });
  expect(await sent(['sessions', 'update', 's', ...listed])).toEqual({ network: { allow } });
});

test.each([
  [['--inject', 'a.org/authorization=TOKEN'], '--inject needs --network'],
  [['--network', 'none', '--network', 'a.example'], '--network none and a host exclude each other'],
  [['--network', 'none', ...rule], '--network none has no host for the rule of --inject'],
  [[...listed, '--inject', 'a.org=TOKEN'], '--inject has the form <host>/<header>=<secret>'],
])('%j is refused', async (options, reason) => {
  await using there = await logIn({});
  const { stderr, code } = await there.run(['projects', 'update', 'p', ...options]);
  expect([stderr, code]).toEqual([expect.stringContaining(reason), 2]);
});

test('the network of a session is shown with the hosts that it reached', async () => {
  const rule = { host: 'a.org', header: 'authorization', secret: 'TOKEN' };
  const data = { host: 'a.org', port: 443, allowed: true, bytesIn: 20, bytesOut: 10, connections: 2 };
  await using there = await logIn({
    'GET /api/sessions/s': { body: { id: 's', network: { allow: ['a.org', 'b.org'], inject: [rule] } } },
    'GET /api/sessions/s/events?since_index=-1': {
      body: {
        events: [{ index: 0, type: 'egress', at: 'T', data, sessionId: 's' }],
        lastIndex: 7,
        hasMore: true,
      },
    },
    'GET /api/sessions/s/events?since_index=0': {
      body: {
        events: [{ index: 8, type: 'egress', at: 'U', data: { ...data, host: 'b.org' }, sessionId: 's' }],
      },
    },
    'GET /api/sessions/n': { body: { id: 'n', network: 'none' } },
    'GET /api/sessions/n/events?since_index=-1': { body: { events: [] } },
  });
  const { stdout } = await there.run(['network', 's']);
  expect(stdout).toContain('a.org, b.org');
  expect(stdout).toContain('TOKEN in authorization of a.org');
  expect(stdout).toMatch(/a\.org:443 +allowed +2 +20 +10 +T/);
  expect(stdout).toMatch(/b\.org:443 +allowed +2 +20 +10 +U/);
  expect((await there.run(['network', 'n'])).stdout).toContain('No connections yet.');
});

test('the address of a preview has a ticket, and a port that is none is refused', async () => {
  await using there = await logIn({});
  const url = `${there.fake.url}/api/sessions/s/ports/3000/?ticket=t`;
  expect(await there.run(['preview', 's', '3000'])).toEqual({
    ...{ code: 0, stdout: `${url}\n` },
    stderr: 'Open it in a browser within 60 s; it opens once.\n',
  });
  const { stdout } = await there.run(['preview', 's', '3000', '--json']);
  expect(JSON.parse(stdout)).toEqual({ url, expiresInSeconds: 60 });
  const wrong = await there.run(['preview', 's', 'http']);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('<port> must be a whole number') });
});

test('a log whose beginning is no longer kept is said to be cut, and where the rest is', async () => {
  const data = { host: 'a.org', port: 443, allowed: true, bytesIn: 20, bytesOut: 10, connections: 2 };
  const events = [{ index: 40, type: 'egress', at: 'T', data, sessionId: 's' }];
  await using there = await logIn({
    'GET /api/sessions/s': { body: { id: 's', network: { allow: ['a.org'] } } },
    'GET /api/sessions/s/events?since_index=-1': { body: { events, droppedEvents: 40 } },
  });
  const { stdout, stderr } = await there.run(['network', 's']);
  expect(stdout).toContain('a.org:443');
  expect(stderr).toContain('Earlier connections are not counted: a session keeps its newest 1,000 events.');
  expect(stderr).toContain('`sallyport events s --follow --json`');
  const json = await there.run(['network', 's', '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ eventsAreMissing: true, hosts: [{ host: 'a.org' }] });
});
