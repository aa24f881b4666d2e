/** Programs and processes over REST, black-box: run, followed, typed into, signalled, ended, lost. */
import { randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest';
import { ageSandbox, makeSession, sandboxRecord, showSession, systemEvents } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { openProcesses, readEvents, textOf } from './process-client.ts';
import { killServer } from './sandbox-processes.ts';

let cloud: EmbeddedCloud;
let id = '';
let client: ReturnType<typeof openProcesses>;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({
    variables: { MSB_DEFAULT_FLAVOR: 'micro', MAX_IDLE_TIME_MS: '3600000' },
  });
  ({ id } = await makeSession(cloud, { kind: 'execution' }));
  client = openProcesses(cloud, () => id);
});
afterAll(() => cloud.stop());

const pty = { pty: { cols: 90, rows: 28 } };
const code = (error: unknown) => (error as { code: string }).code;

describe('a program', () => {
  test('is run, in a folder, with variables, arguments and an input', async () => {
    expect(await client.exec('mkdir -p deep; echo out; echo err >&2; exit 3')).toEqual({
      status: 200,
      body: {
        ...{ exitCode: 3, stdout: 'out\n', stderr: 'err\n', durationMs: expect.any(Number) },
        error: {
          type: 'code_execution_error',
          message: 'it ended with exit code 3',
          suggestions: expect.any(Array),
          recoveryActions: ['debug_and_retry'],
        },
      },
    });
    const fields = { args: ['-c', 'pwd; echo $A; cat'], cwd: 'deep', env: { A: 'a' }, stdin: 'typed é' };
    expect(await client.exec('sh', fields)).toEqual({
      status: 200,
      body: {
        exitCode: 0,
        stdout: '/workspace/deep\na\ntyped é',
        stderr: '',
        durationMs: expect.any(Number),
      },
    });
    expect((await client.exec('pwd', { args: [], cwd: '/tmp' })).body['stdout']).toBe('/tmp\n');
  });

  test('is killed at its limit, and says so', async () => {
    expect((await client.exec('echo begun; sleep 60', { timeoutSeconds: 1 })).body).toMatchObject({
      ...{ exitCode: 124, stdout: 'begun\n', error: { type: 'execution_timeout' } },
    });
  });

  test('has its output followed where the client accepts events, and is listed', async () => {
    const response = await client.follow('echo one; cat; exit 4');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const events = await readEvents(response);
    expect(events.map(({ event }) => event)).toEqual(['start', 'output', 'exit']);
    expect([textOf(events), events.at(-1)?.data]).toEqual(['one\n', { exitCode: 4 }]);
    const processId = events[0]?.data['processId'];
    expect((await client.ask('GET', '/processes')).body['processes']).toContainEqual({
      ...{ processId, command: 'echo one; cat; exit 4', state: 'exited', exitCode: 4, isPty: false },
      ...{ startedAt: expect.any(String), endedAt: expect.any(String) },
    });
  });

  test('goes on as a process when its request has waited long enough', async () => {
    const go = `go-on-${randomUUID()}`;
    const line = `while [ ! -e ${go} ]; do sleep 0.1; done; echo late`;
    const { status, body } = await client.exec(line, { timeoutSeconds: 600 });
    expect([status, Object.keys(body)]).toEqual([202, ['processId']]);
    const processId = String(body['processId']);
    expect(await client.show(processId)).toMatchObject({ state: 'running', command: line });
    await client.exec(`touch ${go}`);
    expect(textOf(await client.output(processId))).toBe('late\n');
  });

  test.each([
    [{ command: '' }, 400, 'invalid_request'],
    [{ command: 'true', unknown: 1 }, 400, 'invalid_request'],
    [{ command: 'true', timeoutSeconds: 3601 }, 400, 'invalid_request'],
    [{ command: 'true', env: { 'a b': 'x' } }, 400, 'invalid_request'],
    [{ command: 'true', cwd: 'nowhere' }, 404, 'file_not_found'],
  ])('that is wrong is refused: %o', async (body, status, expected) => {
    const answer = await client.ask('POST', '/exec', body);
    expect([answer.status, code(answer.body['error'])]).toEqual([status, expected]);
  });

  test('in a folder that does not exist, says how to make one', async () => {
    const { body } = await client.ask('POST', '/exec', { command: 'true', cwd: 'nowhere' });
    expect(body['error']).toMatchObject({
      message: 'cwd: there is no folder "nowhere"',
      suggestions: [expect.stringContaining('?op=mkdir makes a folder')],
    });
  });
});

describe('a process', () => {
  test('that was refused is in no list', async () => {
    const list = async () => (await client.ask('GET', '/processes')).body['processes'];
    const before = await list();
    const refused = await client.ask('POST', '/processes', { command: 'true', cwd: 'nowhere' });
    expect([refused.status, code(refused.body['error'])]).toEqual([404, 'file_not_found']);
    expect(await list()).toEqual(before);
  });

  test('outlives its request, and is read by clients that come back', async () => {
    const process = await client.start('while read line; do echo "$line"; done; exit 6');
    const say = (text: string, query = '') => client.ask('POST', `/processes/${process}/stdin${query}`, text);
    await say('one\n');
    const first = await client.output(process, '', (events) => textOf(events) === 'one\n');
    const last = first.at(-1)?.data;
    const following = [0, 1].map(() =>
      client.output(process, `?offset=${Number(last?.['offset']) + Number(last?.['bytes'])}`),
    );
    expect((await say('two\n', '?eof=1')).status).toBe(204);
    for (const events of await Promise.all(following)) expect(textOf(events)).toBe('two\n');
    expect(textOf(await client.output(process))).toBe('one\ntwo\n');
    expect(await client.show(process)).toMatchObject({ state: 'exited', exitCode: 6 });
    expect(await say('more')).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
  });

  test('gets signals, and is ended with its whole group', async () => {
    const process = await client.start("trap 'echo caught' USR1; echo up; while :; do sleep 0.05; done");
    await client.output(process, '', (events) => textOf(events).includes('up'));
    expect((await client.ask('POST', `/processes/${process}/signal`, { signal: 'SIGUSR1' })).status).toBe(
      204,
    );
    await client.output(process, '', (events) => textOf(events).includes('caught'));
    const body = { processId: process, state: 'exited', exitCode: 143, endedAt: expect.any(String) };
    expect(await client.ask('DELETE', `/processes/${process}`)).toMatchObject({ status: 200, body });
    expect(await client.show(process)).toMatchObject(body);
    const group = await client.start("setsid sleep 987654 & trap '' TERM; sleep 987654; sleep 987654");
    onTestFailed(async () => {
      await client.ask('DELETE', `/processes/${group}`);
    });
    await eventually(
      async () => (await client.exec('pgrep -c -x sleep')).body['stdout'],
      (count) => Number(count) >= 2,
    );
    await client.ask('DELETE', `/processes/${group}`);
    expect((await client.exec('pgrep -c -f 987654 || true')).body['stdout']).not.toBe('2\n');
    expect(
      (await client.exec("ps -eo args 2>/dev/null | grep -c '^sleep 987654' || true")).body['stdout'],
    ).toBe('0\n');
  });

  test('has a terminal that is typed into and resized', async () => {
    const process = await client.start('bash', {
      ...pty,
      args: ['--norc', '--noprofile'],
      env: { PS1: '$ ' },
    });
    const type = (text: string) => client.ask('POST', `/processes/${process}/stdin`, text);
    const shows = (text: string) => client.output(process, '', (events) => textOf(events).includes(text));
    await type('stty size; whoami\r');
    await shows('28 90\r\nsandbox\r\n');
    expect((await client.ask('POST', `/processes/${process}/resize`, { cols: 70, rows: 20 })).status).toBe(
      204,
    );
    await type('stty size\r');
    await shows('20 70\r\n');
    await type('exit 9\r');
    const events = await client.output(process);
    expect(events.at(-1)).toEqual({ event: 'exit', data: { exitCode: 9 } });
    expect(await client.show(process)).toMatchObject({ isPty: true, exitCode: 9 });
  });

  test('that nobody knows is not found', async () => {
    for (const [method, rest] of [
      ['GET', `/processes/${randomUUID()}`],
      ['DELETE', `/processes/${randomUUID()}`],
      ['GET', `/processes/${randomUUID()}/output`],
      ['GET', '/processes/no-id'],
    ] as const)
      expect(await client.ask(method, rest)).toMatchObject({
        status: 404,
        body: { error: { code: 'not_found' } },
      });
  });
});

test('processes are lost with their sandbox, and the next program starts another', async () => {
  const { id: own } = await makeSession(cloud, { kind: 'agent' });
  const lost = openProcesses(cloud, () => own);
  expect((await lost.ask('GET', '/processes')).body).toEqual({ processes: [] });
  const ended = await lost.start('exit 2');
  await lost.output(ended);
  const process = await lost.start('sleep 600', pty);
  await lost.ask('GET', '/processes');
  const reading = lost.output(process);
  const { taskArn = '' } = (await recordOf(own)) ?? {};
  killServer(cloud.home, taskArn);
  await reading.catch(() => undefined);
  const stopped = await eventually(
    () => systemEvents(cloud, own, 'sandbox_stopped'),
    (events) => events.length > 0,
  );
  expect(stopped[0]).toMatchObject({ lostProcesses: 1 });
  expect((await lost.ask('GET', '/processes')).body['processes']).toMatchObject([
    { processId: ended, state: 'exited', exitCode: 2 },
    { processId: process, state: 'lost', isPty: true },
  ]);
  // It printed nothing, which its answer cannot know any more.
  expect((await lost.output(ended)).map(({ event, data }) => [event, data])).toEqual([
    ['start', { processId: ended }],
    ['exit', { exitCode: 2, outputLost: true }],
  ]);
  expect((await lost.output(process)).map(({ event, data }) => [event, data])).toEqual([
    ['start', { processId: process }],
    ['exit', { exitCode: null, lost: true }],
  ]);
  expect((await lost.ask('POST', `/processes/${process}/stdin`, 'x')).status).toBe(409);
  expect(await lost.ask('DELETE', `/processes/${process}`)).toMatchObject({
    ...{ status: 200, body: { processId: process, state: 'lost' } },
  });
  expect((await lost.exec('echo again')).body).toMatchObject({ stdout: 'again\n' });
  expect(await lost.show(process)).toMatchObject({ state: 'lost' });
});

const recordOf = async (session: string) =>
  sandboxRecord(cloud, (await showSession(cloud, session)).workspace);

const halfDayMs = 86_400_000 / 2;

/** As if nothing had happened in the session for half a day, and its moment had come. */
const age = async (session: string) => {
  await ageSandbox(cloud, session, 7_200_000);
  await cloud.table.client.send(
    new UpdateCommand({
      TableName: cloud.table.name,
      Key: { pk: `SESSION#${session}`, sk: 'META' },
      UpdateExpression: 'SET lastActiveAt = lastActiveAt - :ms, dueAt = :now',
      ExpressionAttributeValues: { ':ms': halfDayMs, ':now': Date.now() - 1 },
    }),
  );
};

test('a process keeps its idle sandbox, until it ends; a terminal keeps it while someone follows it', async () => {
  const { id: own } = await makeSession(cloud, { kind: 'agent' });
  const kept = openProcesses(cloud, () => own);
  const stateAfterSweep = async () => {
    await age(own);
    await cloud.janitor({ sweep: 'due' });
    return (await recordOf(own)).state;
  };
  const process = await kept.start('cat');
  expect(await stateAfterSweep()).toBe('ready');
  await kept.ask('DELETE', `/processes/${process}`);
  const terminal = await kept.start('cat', pty);
  const following = new AbortController();
  const reading = await cloud.request(`/api/sessions/${own}/processes/${terminal}/output`, {
    signal: following.signal,
  });
  expect(await stateAfterSweep()).toBe('ready');
  following.abort();
  await reading.body?.cancel().catch(() => undefined);
  // A reader that has left is noticed at the end of its slice.
  await eventually(stateAfterSweep, (state) => state !== 'ready');
});
