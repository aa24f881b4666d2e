/** A pause on demand, black-box: files are there after the next call, and what runs is not cut off. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SallyportError } from '#sdk/errors.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import { systemEvents } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';

let cloud: EmbeddedCloud;
let client: Sallyport;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { LLM_PROVIDER: 'demo', MSB_DEFAULT_FLAVOR: 'micro' } });
  client = new Sallyport(cloud);
});
afterAll(() => cloud.stop());

const stopped = (sandbox: {
  readonly info: () => Promise<{ readonly sandbox: { readonly state: string } | null }>;
}) =>
  eventually(
    () => sandbox.info(),
    (session) => session.sandbox?.state === 'stopped',
  );

test('a paused sandbox costs nothing, and its files are there at the next call, which says what was lost', async () => {
  const sandbox = await client.sandboxes.create();
  await sandbox.code('kept = 1', { language: 'python' });
  // No request saves what a process writes: the pause does.
  const server = await sandbox.processes.start('echo late > late.txt; echo wrote; sleep 600');
  for await (const { text } of server.output()) if (text === 'wrote\n') break;
  const paused = await sandbox.pause();
  expect(paused).toMatchObject({ id: sandbox.id, status: 'paused', sandbox: { reason: 'paused' } });
  expect(['stopping', 'stopped']).toContain(paused.sandbox?.state);
  await stopped(sandbox);
  expect(await cloud.runningTasks()).toEqual([]);
  expect((await sandbox.pause()).status).toBe('paused');
  const [stop] = await systemEvents(cloud, sandbox.id, 'sandbox_stopped');
  expect(stop).toMatchObject({ lostProcesses: 1 });
  expect(await sandbox.files.read('late.txt')).toBe('late\n');
  const { stdout, stateLost, error } = await sandbox.code('print(kept)', { language: 'python' });
  expect([stdout, stateLost, error?.type]).toEqual(['', true, 'runtime_error']);
  expect((await sandbox.info()).status).toBe('ready');
  await sandbox.stop();
  const refused = await sandbox.pause().catch((reason: SallyportError) => reason);
  expect(refused).toMatchObject({ code: 'invalid_session_state', status: 409 });
});

test('a command that runs refuses the pause with advice, and goes on', async () => {
  const sandbox = await client.sandboxes.create();
  const command = sandbox.exec('touch begun; until [ -e go ]; do sleep 0.1; done; echo kept');
  await eventually(
    () => sandbox.files.read('begun').catch(() => undefined),
    (text) => text !== undefined,
  );
  const refused = await sandbox.pause().catch((reason: SallyportError) => reason);
  expect(refused).toMatchObject({
    ...{ code: 'conflict', status: 409, message: 'a call runs in the workspace' },
    suggestions: ['Wait until it ends, or cancel the turn.'],
  });
  await sandbox.files.write('go', '');
  expect((await command).stdout).toBe('kept\n');
  expect((await sandbox.pause()).status).toBe('paused');
  await stopped(sandbox);
  await sandbox.stop();
});

test('the sandbox of an agent is paused between its turns, and its next turn has the files', async () => {
  const session = await client.sessions.create({ approvals: 'auto' });
  const last = async (text: string): Promise<string> => {
    let output = '';
    for await (const event of session.send(text))
      if (event.type === 'tool:output') output = JSON.stringify(event.data.content);
    return output;
  };
  await last('$ echo one > one.txt');
  // The function of the turn may still be leaving when its end is read.
  const paused = await eventually(
    () => session.sandbox.pause().catch((error: SallyportError) => error),
    (answer) => !('code' in answer && answer.code === 'conflict'),
  );
  expect(paused).toMatchObject({ status: 'idle', sandbox: { reason: 'paused' } });
  expect(await last('$ cat one.txt')).toContain('one');
  await session.stop();
});
