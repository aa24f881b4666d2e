/** Programs that an agent starts in the background: read, written to, ended, and lost with their sandbox. */
import { StopTaskCommand } from '@aws-sdk/client-ecs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Agent, openAgent, toolOutput } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import type { Received } from './socket-client.ts';

let cloud: EmbeddedCloud;
let agent: Agent;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());
// One for each try: the turn and the processes of a try that failed are not those of the next.
beforeEach(async () => {
  agent = await openAgent(cloud);
});
afterEach(() => agent.close());

/** A prompt that the demo provider turns into a call of the tool. */
const call = (tool: string, args: object): string => `call ${tool} ${JSON.stringify(args)}`;
const use = (action: string, args: object = {}): string => call('process', { action, ...args });
const start = async (command: string): Promise<string> => {
  const said = await agent.run(call('execute_command', { command, background: true }));
  const id = /process ([\da-f-]{36})/.exec(said)?.[1];
  if (id === undefined) throw new Error(said);
  return id;
};
const failures = (frames: readonly Received[]): readonly unknown[] =>
  frames.filter(({ type }) => type === 'agent:error').map(({ data }) => data.code);

test('a program outlives its call; its output is read from an offset on, and input waits for a person', async () => {
  const process_id = await start('echo first; read line; echo "got $line"; sleep 100');
  const first = await eventually(
    () => agent.run(use('output', { process_id })),
    (output) => output.startsWith('first'),
  );
  expect(first).toBe('first\n[running; next_offset 6]');

  const { client } = agent;
  const from = client.frames.length;
  const asked = client.frames.filter(({ type }) => type === 'tool:approval_required').length;
  const turn = agent.say(use('input', { process_id, text: 'hello\n' }));
  const { data } = await client.untilType('tool:approval_required', asked);
  expect(data).toMatchObject({ name: 'process', args: { action: 'input', text: 'hello\n' } });
  client.send('tool:approval', {
    callId: data.callId,
    digest: data.digest,
    approved: true,
    remember: 'session',
  });
  await turn;
  expect(toolOutput(client.frames.slice(from))).toBe('the input was written');

  const second = await eventually(
    () => agent.run(use('output', { process_id, offset: 6 })),
    (output) => output.startsWith('got'),
  );
  expect(second).toBe('got hello\n[running; next_offset 16]');
  expect(await agent.run(use('list'))).toContain(`${process_id} running: echo first`);
  expect(await agent.run(use('kill', { process_id }))).toBe('the process and its children have ended');
  expect(await agent.run(use('output', { process_id, offset: 16 }))).toMatch(/^\[exited/);

  // The grant covers no input.
  const again = agent.say(use('input', { process_id, text: 'x' }));
  const { data: more } = await client.untilType('tool:approval_required', asked + 1);
  client.send('tool:approval', { callId: more.callId, approved: false });
  await again;
});

test('code runs in the background, and a program that cannot start fails', async () => {
  const code = 'import time\nprint("on", flush=True)\ntime.sleep(100)';
  const said = await agent.run(call('execute_code', { code, language: 'python', background: true }));
  const process_id = /process ([\da-f-]{36})/.exec(said)?.[1];
  expect(await agent.run(use('output', { process_id, wait_seconds: 1 }))).toContain('on\n[running');
  await agent.run(use('signal', { process_id, signal: 'SIGINT' }));
  expect(await agent.run(use('output', { process_id, wait_seconds: 60 }))).toContain('KeyboardInterrupt');
  const unknown = await agent.say(use('output', { process_id: crypto.randomUUID() }));
  const wrong = await agent.say(call('execute_command', { command: 'ls', background: 'yes' }));
  expect([failures(unknown), failures(wrong)]).toEqual([['not_found'], ['invalid_request']]);
});

test('the first result after a lost sandbox names the processes that ended with it', async () => {
  const process_id = await start('sleep 1000');
  const [task] = await cloud.runningTasks();
  await cloud.ecs.send(new StopTaskCommand({ cluster: 'sallyport', task, reason: 'a test' }));
  await agent.client.until(({ type, data }) => type === 'system' && data.kind === 'sandbox_stopped');
  const told = await agent.say('$ echo back');
  const answer = told.find(({ type, data }) => type === 'message' && data.role === 'assistant');
  expect(answer?.data.text).toContain(
    `These background processes ended with their sandbox: ${process_id} (sleep 1000).`,
  );
  expect(await agent.run(use('list'))).toContain(`${process_id} lost: sleep 1000`);
  const later = await agent.say('$ echo again');
  expect(JSON.stringify(later)).not.toContain('These background processes');
});
