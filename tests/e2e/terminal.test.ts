/** A terminal over the WebSocket, black-box: typed into, resized, followed, left and attached again. */
import { randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ageSandbox, makeSession, sandboxRecord, showSession } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { openProcesses, textOf } from './process-client.ts';
import { type Client, connect, type Received } from './socket-client.ts';

let cloud: EmbeddedCloud;
let id = '';
let processes: ReturnType<typeof openProcesses>;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({
    variables: { MSB_DEFAULT_FLAVOR: 'micro', MAX_IDLE_TIME_MS: '3600000' },
  });
  ({ id } = await makeSession(cloud, { kind: 'execution' }));
  processes = openProcesses(cloud, () => id);
});
afterAll(() => cloud.stop());

const pty = { pty: { cols: 90, rows: 28 } };
const shell = { ...pty, args: ['--norc', '--noprofile'], env: { PS1: '> ' } };
const open = () => connect(cloud, { sessionId: id });

const outputOf = (client: Client, processId: string): readonly Received[] =>
  client.frames.filter(({ type, data }) => type === 'process:output' && data.processId === processId);
const shown = (client: Client, processId: string): string =>
  outputOf(client, processId)
    .map(({ data }) => data.text)
    .join('');
const shows = (client: Client, processId: string, text: string) =>
  client.until(() => shown(client, processId).includes(text), text);
const nextOffset = (client: Client, processId: string): number => {
  const last = outputOf(client, processId).at(-1);
  return last === undefined ? 0 : last.data.offset + last.data.bytes;
};
const expectNoGap = (client: Client, processId: string, from = 0): void => {
  let next = from;
  for (const { data } of outputOf(client, processId)) {
    expect(data.offset).toBe(next);
    next += data.bytes;
  }
};

test('TW1: a shell is typed into, shows its output from the first byte, is resized, and says its exit code', async () => {
  const processId = await processes.start('bash', shell);
  const client = await open();
  client.send('process:resize', { processId, cols: 101, rows: 31 });
  await shows(client, processId, '> ');
  client.send('process:input', { processId, text: 'stty size; echo $((6 * 7)) é\r' });
  await shows(client, processId, '31 101\r\n42 é\r\n');
  client.send('process:input', { processId, text: 'exit 3\r' });
  const exit = await client.untilType('process:exit');
  expect(exit).toMatchObject({ seq: null, sessionId: id, data: { processId, exitCode: 3 } });
  expectNoGap(client, processId);
  // Attached again, an ended one shows what it had printed.
  client.send('process:resize', { processId, cols: 80, rows: 24, offset: 0 });
  await client.untilType('process:exit', 1);
  client.send('process:input', { processId, text: 'late' });
  expect((await client.untilType('error')).data).toMatchObject({ processId, error: { code: 'conflict' } });
  await client.close();
});

test('TW4: numbered input is written in its order, whichever function is the first to have it', async () => {
  const processId = await processes.start('stty raw -echo; echo ready; exec cat', pty);
  const client = await open();
  client.send('process:input', { processId, text: '' });
  await shows(client, processId, 'ready');
  const pieces = Array.from({ length: 60 }, (_, order) => `<${order}>`);
  const send = (): void => {
    for (const [order, text] of pieces.entries()) client.send('process:input', { processId, text, order });
  };
  send();
  // A frame whose function starts cold may come after those behind it have given up: they are refused, and sent again.
  let refused = 0;
  await eventually(
    () => {
      const errors = client.frames.filter(({ type }) => type === 'error').length;
      if (errors > refused) send();
      refused = errors;
      return Promise.resolve(shown(client, processId));
    },
    (text) => text.includes('<59>'),
  );
  expect(shown(client, processId)).toContain(pieces.join(''));
  await client.close();
  await processes.send('DELETE', `/processes/${processId}`);
});

test('frames without numbers are taken as a person types them: one after the other was seen', async () => {
  const processId = await processes.start('stty raw -echo; echo ready; exec cat', pty);
  const client = await open();
  client.send('process:resize', { processId, cols: 80, rows: 24 });
  await shows(client, processId, 'ready');
  // Faster ones may change places on a busy machine (TW4); `arrival-order.test.ts` proves which are put in order.
  for (const typed of ['a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef']) {
    client.send('process:input', { processId, text: typed.slice(-1) });
    await shows(client, processId, typed);
  }
  await client.close();
  await processes.send('DELETE', `/processes/${processId}`);
});

test('TW2: after a lost connection output goes on at its offset, without a gap or a repeat', async () => {
  const processId = await processes.start('bash', shell);
  const first = await open();
  first.send('process:input', {
    processId,
    text: 'for n in $(seq 200); do echo line $n; done; read -r go\r',
  });
  await shows(first, processId, 'line 150');
  first.terminate();
  const offset = nextOffset(first, processId);
  const second = await open();
  second.send('process:resize', { processId, cols: 90, rows: 28, offset });
  second.send('process:input', { processId, text: '\recho the "end"\r', offset });
  await shows(second, processId, 'the end');
  expectNoGap(first, processId);
  expectNoGap(second, processId, offset);
  const kept = await processes.output(processId, '?follow=0');
  expect(textOf(kept)).toContain(shown(first, processId) + shown(second, processId));
  await second.close();
  await processes.send('DELETE', `/processes/${processId}`);
});

test('TW2: a long output comes whole, in frames that the gateway takes', async () => {
  const processId = await processes.start(
    "python3 -c \"print(('\\\\x1b[31m' + 'é' * 9 + '\\\\x01' * 20) * 15000, end='!')\"",
    pty,
  );
  const client = await open();
  client.send('process:input', { processId, text: '' });
  await client.untilType('process:exit');
  expectNoGap(client, processId);
  expect(shown(client, processId)).toBe(
    `${`\u001b[31m${'é'.repeat(9)}${'\u0001'.repeat(20)}`.repeat(15_000)}!`,
  );
  for (const frame of outputOf(client, processId))
    expect(Buffer.byteLength(JSON.stringify(frame))).toBeLessThan(32 * 1024);
  await client.close();
});

test('TW3: two connections see the same terminal, and one sees two terminals', async () => {
  const [one, other] = [await processes.start('bash', shell), await processes.start('bash', shell)];
  const [first, second] = [await open(), await open()];
  for (const [client, processId] of [
    [first, one],
    [second, one],
    [second, other],
  ] as const)
    client.send('process:resize', { processId, cols: 80, rows: 24 });
  await shows(second, one, '> ');
  first.send('process:input', { processId: one, text: 'echo both $((1 + 1))\r' });
  second.send('process:input', { processId: other, text: 'echo only $((2 + 2))\r' });
  await Promise.all([
    shows(first, one, 'both 2'),
    shows(second, one, 'both 2'),
    shows(second, other, 'only 4'),
  ]);
  expect(outputOf(first, other)).toEqual([]);
  await first.close();
  await second.close();
  for (const processId of [one, other]) await processes.send('DELETE', `/processes/${processId}`);
});

test('TW7: a terminal keeps its idle sandbox while a connection is attached to it', async () => {
  const { id: own } = await makeSession(cloud, { kind: 'agent' });
  const kept = openProcesses(cloud, () => own);
  const processId = await kept.start('bash', shell);
  const client = await connect(cloud, { sessionId: own });
  client.send('process:resize', { processId, cols: 80, rows: 24 });
  await shows(client, processId, '> ');
  expect(await stateAfterSweep(own)).toBe('ready');
  await client.close();
  // The follower sees at the end of its slice that the connection has closed.
  await eventually(
    () => stateAfterSweep(own),
    (state) => state !== 'ready',
  );
});

/** Of its sandbox, as if nothing had happened in the session for two hours. */
const stateAfterSweep = async (session: string): Promise<unknown> => {
  await ageSandbox(cloud, session, 7_200_000);
  await cloud.table.client.send(
    new UpdateCommand({
      TableName: cloud.table.name,
      Key: { pk: `SESSION#${session}`, sk: 'META' },
      UpdateExpression: 'SET lastActiveAt = :before, dueAt = :now',
      ExpressionAttributeValues: { ':before': Date.now() - 7_200_000, ':now': Date.now() - 1 },
    }),
  );
  await cloud.janitor({ sweep: 'due' });
  return (await sandboxRecord(cloud, (await showSession(cloud, session)).workspace)).state;
};

describe('refused, with the reason, while the connection stays', () => {
  const refusal = async (client: Client, fields: object, action = 'process:input') => {
    const before = client.frames.filter(({ type }) => type === 'error').length;
    client.send(action, { text: 'x', cols: 80, rows: 24, ...fields });
    const { data } = await client.untilType('error', before);
    return [data.error.code, data.processId];
  };

  test('a process that is unknown, of another session, or misnamed', async () => {
    const { id: other } = await makeSession(cloud, { kind: 'execution' });
    const foreign = await openProcesses(cloud, () => other).start('bash', shell);
    const client = await open();
    for (const processId of [randomUUID(), foreign, 'no-id'])
      for (const action of ['process:input', 'process:resize'])
        expect(await refusal(client, { processId }, action)).toEqual(['not_found', processId]);
    expect(outputOf(client, foreign)).toEqual([]);
    await client.close();
  });

  test('frames that lack a field or exceed a limit', async () => {
    const client = await open();
    const processId = randomUUID();
    for (const [action, fields] of [
      ['process:input', { processId: undefined }],
      ['process:input', { processId, text: 7 }],
      ['process:input', { processId, order: -1 }],
      ['process:resize', { processId, cols: 0 }],
      ['process:resize', { processId, rows: 1001 }],
      ['process:resize', { processId, offset: -1 }],
    ] as const)
      expect((await refusal(client, fields, action))[0]).toBe('invalid_request');
    await client.close();
  });

  test('TW5: more than 64 KB a second', async () => {
    const processId = await processes.start('stty raw -echo; exec cat > /dev/null', pty);
    const client = await open();
    const text = 'x'.repeat(30_000);
    for (let order = 0; order < 12; order += 1) client.send('process:input', { processId, text, order });
    const { data } = await client.untilType('error');
    expect(data).toMatchObject({ processId, order: expect.any(Number), error: { code: 'rate_limited' } });
    await client.close();
    await processes.send('DELETE', `/processes/${processId}`);
  });

  test('TW6: a token that may only read', async () => {
    const { id: project } = await cloud.ask<{ id: string }>('/api/projects', {
      method: 'POST',
      body: JSON.stringify({ name: 'terminals' }),
    });
    const own = await makeSession(cloud, { kind: 'execution', project });
    const processId = await openProcesses(cloud, () => own.id).start('bash', shell);
    const { token } = await cloud.ask<{ token: string }>('/api/tokens', {
      method: 'POST',
      body: JSON.stringify({ name: 'reader', scope: `project:${project}:ro` }),
    });
    const reader = await connect({ url: cloud.url, token }, { sessionId: own.id });
    for (const action of ['process:input', 'process:resize'])
      expect(await refusal(reader, { processId }, action)).toEqual(['forbidden', processId]);
    expect(outputOf(reader, processId)).toEqual([]);
    await reader.close();
  });
});

test('a token that is revoked loses its terminal', async () => {
  const { token, id: tokenId } = await cloud.ask<{ token: string; id: string }>('/api/tokens', {
    method: 'POST',
    body: JSON.stringify({ name: 'soon gone', scope: 'admin' }),
  });
  const processId = await processes.start('bash', shell);
  const client = await connect({ url: cloud.url, token }, { sessionId: id });
  client.send('process:resize', { processId, cols: 80, rows: 24 });
  await shows(client, processId, '> ');
  await cloud.request(`/api/tokens/${tokenId}`, { method: 'DELETE' });
  expect(await client.closed).toBeGreaterThan(0);
  await processes.send('DELETE', `/processes/${processId}`);
});
