/** The platform's calls of tools in a real sandbox, by their own route. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

type Event = Readonly<Record<string, unknown>> & {
  readonly result?: { readonly isError?: boolean; readonly structuredContent?: object };
};

const eventsIn = (text: string): readonly Event[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => JSON.parse(event.slice('data: '.length)) as Event);

const call = async (id: string, body: object): Promise<readonly Event[]> => {
  const {
    status,
    headers,
    body: answer,
  } = await sandbox.ask('POST', `/calls/${id}`, {
    body: JSON.stringify(body),
  });
  expect([status, headers['content-type']]).toEqual([200, 'text/event-stream']);
  return eventsIn(answer.toString());
};

const command = (line: string) => ({ name: 'execute_command', arguments: { command: line } });

test('a call says what its program prints, and then its result', async () => {
  const events = await call('printed', command('echo one; sleep 0.2; echo two >&2'));
  expect(events.map((event) => event['output'] ?? event.result?.structuredContent)).toMatchObject([
    { stream: 'stdout', offset: 0, text: 'one\n' },
    { stream: 'stderr', offset: 0, text: 'two\n' },
    { exit_code: 0, stdout: 'one\n', stderr: 'two\n' },
  ]);
});

test('a repeat gets the first result, and runs nothing', async () => {
  const line = 'echo x >> repeated; wc -l < repeated';
  const first = await call('repeated', command(line));
  expect((await call('repeated', command(line))).at(-1)).toEqual(first.at(-1));
  expect((await call('repeated-again', command('wc -l < repeated'))).at(-1)?.result).toMatchObject({
    structuredContent: { stdout: '1\n' },
  });
});

test('a call with a wait is answered by then, and ends by itself', async () => {
  const body = { ...command('sleep 1; echo late'), waitMs: 50 };
  expect(await call('late', body)).toEqual([{ isRunning: true }]);
  expect((await call('late', command('sleep 1; echo late'))).at(-1)?.result).toMatchObject({
    structuredContent: { stdout: 'late\n' },
  });
});

test('a call outlives its connection', async () => {
  const id = 'left';
  const body = JSON.stringify(command('echo begun; sleep 0.5; echo ended > left'));
  const answer = await sandbox.open('POST', `/calls/${id}`, { body });
  answer.on('error', () => undefined).destroy();
  await vi.waitFor(async () => {
    const { body: file } = await sandbox.ask('GET', '/files/left');
    expect(file.toString()).toContain('ended');
  });
});

test('a call is cancelled by its id', async () => {
  const running = call('cancelled', command('echo begun; sleep 60'));
  await delay(200);
  const { body } = await sandbox.ask('POST', '/calls/cancelled/cancel');
  expect(JSON.parse(body.toString())).toEqual({ call: 'running' });
  expect((await running).at(-1)?.result).toBeDefined();
});

test('a refusal of a tool is a result in its words', async () => {
  for (const body of [{ name: 'no_tool' }, { name: 'read_file', arguments: { path: '/etc/passwd' } }])
    expect((await call(`refused-${body.name}`, body)).at(-1)).toMatchObject({ result: { isError: true } });
});

test.each([
  ['is no JSON', '{'],
  ['has no name', '{}'],
  ['has arguments that are no object', '{"name":"list_files","arguments":[]}'],
  ['has a field that is not known', '{"name":"list_files","more":1}'],
])('a body that %s is refused', async (_title, body) => {
  const { status, headers, body: answer } = await sandbox.ask('POST', '/calls/refused', { body });
  expect(status).toBe(400);
  expect(headers['x-sallyport-refusal']).toBe('true');
  expect(JSON.parse(answer.toString())).toMatchObject({ error: { code: 'invalid_request' } });
});

test('a body over the bound is refused before it is held', async () => {
  const { status } = await sandbox.ask('POST', '/calls/huge', {
    body: '',
    headers: { 'content-length': String(27 * 1_048_576) },
  });
  expect(status).toBe(413);
});

test('another caller is refused', async () => {
  const { status } = await sandbox.ask('POST', '/calls/foreign', {
    bearer: 'c'.repeat(64),
    body: JSON.stringify(command('true')),
  });
  expect(status).toBe(401);
});
