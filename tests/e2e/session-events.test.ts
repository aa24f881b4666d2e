/** The log of a session as its clients read it: the ring and what it has dropped, what is pushed, what age removes. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeEventLog } from '#shared/adapters/aws/dynamo/event-log.ts';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';
import {
  connect,
  errorOf,
  type Fields,
  fieldsOf,
  generations,
  type McpClient,
  type Notified,
} from './mcp-clients.ts';

let cloud: EmbeddedCloud;
let client: McpClient;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
  client = await connect(cloud);
});
afterAll(async () => {
  await client.close();
  await cloud.stop();
});

const made = (path: string, body: object = {}): Promise<{ id: string }> =>
  cloud.ask(`/api${path}`, { method: 'POST', body: JSON.stringify(body) });
const session = async (action: string, args: Fields): Promise<Fields> =>
  fieldsOf(await client.call('session', { action, ...args }));

type Page = {
  readonly events: readonly { readonly index: number }[];
  readonly lastIndex: number;
  readonly droppedEvents: number;
  readonly hasMore: boolean;
};

describe('a log of 1040 events', () => {
  let id: string;
  beforeAll(async () => {
    id = (await made('/sessions')).id;
    const { append } = makeEventLog(cloud.table);
    const notes = Array.from({ length: 40 }, () => ({ type: 'system', data: { kind: 'note' } }) as const);
    for (let round = 0; round < 26; round += 1) await append(id as SessionId, notes, Date.now());
  });
  const read = (query: string): Promise<Page> => cloud.ask(`/api/sessions/${id}/events?${query}`);

  test.each([
    ['since_index=-1', 40],
    ['', 40],
    ['since_index=39', 0],
  ])(
    'returns the newest thousand to %j, and how many earlier ones are deleted: %i',
    async (query, dropped) => {
      const { events, ...rest } = await read(query);
      expect([events.length, events[0]?.index, events.at(-1)?.index]).toEqual([1000, 40, 1039]);
      expect(rest).toMatchObject({ lastIndex: 1039, droppedEvents: dropped, hasMore: false });
    },
  );

  test('returns them to a tool, too', async () => {
    const asked = await session('events', { session_id: id, since_index: -1 });
    expect((asked['events'] as Fields[]).map(({ index }) => index)).toEqual(
      Array.from({ length: 1000 }, (_, place) => place + 40),
    );
    expect(asked).toMatchObject({ last_index: 1039, dropped_events: 40, has_more: false });
  });

  test.each([0, 38])('refuses events after %i and names the oldest', async (since) => {
    const message = `events before index 40 have been purged (oldest available: 40)`;
    const response = await cloud.request(`/api/sessions/${id}/events?since_index=${since}`);
    expect([response.status, await response.json()]).toMatchObject([
      410,
      { error: { code: 'events_purged', message, oldestIndex: 40 } },
    ]);
    const refused = { action: 'events', session_id: id, since_index: since };
    expect(errorOf(await client.call('session', refused))).toMatchObject({ type: 'events_purged', message });
  });

  test('is read page by page from the last index of the page before', async () => {
    const seen: number[] = [];
    let since = -1;
    for (;;) {
      const page = await read(`since_index=${since}&max_events=300`);
      seen.push(...page.events.map(({ index }) => index));
      since = page.lastIndex;
      if (!page.hasMore) break;
    }
    expect(seen).toEqual(Array.from({ length: 1000 }, (_, place) => place + 40));
    expect((await read(`since_index=${since}`)).events).toEqual([]);
  });

  test.each(['since_index=-2', 'since_index=x', 'max_events=0', 'max_events=1001'])(
    'refuses %s by name',
    async (query) => {
      const response = await cloud.request(`/api/sessions/${id}/events?${query}`);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect([response.status, error.code]).toEqual([400, 'invalid_request']);
      expect(error.message).toContain(query.split('=')[0]);
    },
  );
});

describe.each(generations)('to a client of %s', (generation) => {
  test('only calls, their outputs, errors and the completion are pushed, whatever else is in the log', async () => {
    const heard: Notified[] = [];
    const waiting = await connect(cloud, generation, (notified) => heard.push(notified));
    onTestFinished(() => waiting.close());
    const call = async (args: Fields): Promise<Fields> => fieldsOf(await waiting.call('session', args));
    const { id: project_id } = await made('/projects', { name: 'p' });
    const asked = { action: 'message', project_id, message: '$ echo said\nread gone.txt', wait: true };
    let answer = await call({ ...asked, stop_at_approval: true });
    const { session_id } = answer;
    for (let decided = 0; answer['finished'] === false && decided < 5; decided += 1) {
      const [pending] = answer['pending_approvals'] as Fields[];
      await session('approve', { session_id, call_id: pending?.['call_id'], approved: true });
      // The message is repeated under its id: it is said once, and waited for again.
      answer = await call({ ...asked, message_id: answer['message_id'], stop_at_approval: decided === 0 });
    }
    expect(answer).toMatchObject({ finished: true, stop_reason: 'end_turn' });
    const pushed = new Set(heard.map(({ data }) => data['type']));
    expect([...pushed].toSorted()).toEqual(['agent:error', 'completion', 'tool:call', 'tool:output']);
    expect(new Set(heard.map(({ data, level }) => `${data['type']} ${level}`))).toContain(
      'agent:error error',
    );
    const { events } = await session('events', { session_id });
    const logged = new Set((events as Fields[]).map(({ type }) => type));
    expect([...logged]).toEqual(
      expect.arrayContaining(['message', 'system', 'tool:approval_required', 'completion']),
    );
    await session('end', { session_id });
  });
});

test('cleanup deletes sessions that ended before the given age, and no younger or active ones', async () => {
  const { id: project } = await made('/projects', { name: 'p' });
  const hoursAgo = async (hours: number, isEnded = true): Promise<string> => {
    const { id } = await made('/sessions', { project });
    if (isEnded) await cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' });
    await cloud.table.client.send(
      new UpdateCommand({
        TableName: cloud.table.name,
        Key: keys.session(id),
        UpdateExpression: 'SET lastActiveAt = lastActiveAt - :age',
        ExpressionAttributeValues: { ':age': hours * 3_600_000 },
      }),
    );
    return id;
  };
  const [alive, young, old, older] = [
    await hoursAgo(100, false),
    await hoursAgo(1),
    await hoursAgo(25),
    await hoursAgo(50),
  ];
  const left = async (): Promise<readonly unknown[]> => {
    const { sessions } = await session('list', { project_id: project });
    return (sessions as Fields[]).map(({ session_id }) => session_id).toSorted();
  };
  expect(await session('cleanup', { project_id: project, max_age_hours: 48 })).toMatchObject({ removed: 1 });
  expect(await left()).toEqual([alive, young, old].toSorted());
  expect((await cloud.request(`/api/sessions/${older}`)).status).toBe(404);
  expect(await session('cleanup', { project_id: project })).toMatchObject({
    removed: 1,
    message: '1 session(s) older than 24 hours removed',
  });
  expect(await left()).toEqual([alive, young].toSorted());
  expect(await session('cleanup', { project_id: project, max_age_hours: 0 })).toMatchObject({ removed: 1 });
  expect(await left()).toEqual([alive]);
  const refused = { action: 'cleanup', max_age_hours: -1 };
  expect(errorOf(await client.call('session', refused)).message).toContain('max_age_hours');
});
