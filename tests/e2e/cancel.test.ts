/** A cancel: what runs is killed, what waits is over, what is queued goes on. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Agent, openAgent, showSession, toolOutput } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { sandboxProcesses } from './sandbox-processes.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

/** Closed with its try: programs of one that failed would be found by the next. */
const open = async (options: object = {}): Promise<Agent> => {
  const agent = await openAgent(cloud, options);
  onTestFinished(agent.close);
  return agent;
};

const cancelByRest = ({ id }: Agent): Promise<Response> =>
  cloud.request(`/api/sessions/${id}/cancel`, { method: 'POST' });

/** Programs in this cloud's sandboxes whose command line holds the text. */
const running = (text: string): readonly number[] =>
  sandboxProcesses(cloud.home)
    .map(({ pid }) => pid)
    .filter((pid) => commandOf(pid).includes(text));

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // It has ended.
    return '';
  }
};

test('a running program is killed long before its end, and the message behind it runs', async () => {
  const agent = await open();
  await agent.run('$ true');
  agent.client.send('message', { text: '$ echo begun; sleep 290.5; touch survived', messageId: 'long' });
  await agent.client.untilType('tool:progress');
  expect(running('sleep 290.5').length).toBeGreaterThan(0);
  agent.client.send('message', { text: '$ echo after', messageId: 'queued' });
  agent.client.send('ping');
  await agent.client.untilType('pong');

  agent.client.send('turn:cancel');
  const { data } = await agent.client.untilType('completion', 1);
  expect(data).toMatchObject({ stopReason: 'cancelled', text: '' });
  await eventually(
    () => Promise.resolve(running('sleep 290.5')),
    (pids) => pids.length === 0,
  );

  const next = await agent.client.untilType('completion', 2);
  expect(next.data).toMatchObject({ stopReason: 'end_turn' });
  expect(next.data.text).toContain('after');
  const left = await agent.client.frames.length;
  agent.client.send('message', { text: "$ grep -lsa 'sleep 290[.]5' /proc/[0-9]*/cmdline; ls survived" });
  await agent.client.untilType('completion', 3);
  expect(toolOutput(agent.client.frames.slice(left))).not.toMatch(/\/proc\/|^survived/m);
});

test('of two running programs none survives a cancel, even if one ends at that moment', async () => {
  const agent = await open();
  await agent.run('$ true');
  const both = '$ echo a; until [ -e go ]; do sleep 0.02; done\n$ echo b; sleep 291.5';
  agent.client.send('message', { text: both });
  await agent.client.untilType('tool:progress', 1);
  const go = cloud.request(`/api/sessions/${agent.id}/files/go`, { method: 'PUT', body: '' });
  await Promise.all([go, cancelByRest(agent)]);
  const { data } = await agent.client.untilType('completion', 1);
  expect(data.stopReason).toBe('cancelled');
  await eventually(
    () => Promise.resolve([...running('sleep 291.5'), ...running('until [ -e go ]')]),
    (pids) => pids.length === 0,
  );
});

test('a pending call ends, and cannot be approved any more', async () => {
  const agent = await open({ approvals: 'ask' });
  agent.client.send('message', { text: '$ echo never >> ran.txt' });
  const { data } = await agent.client.untilType('tool:approval_required');
  const cancelled = await cancelByRest(agent);
  expect([cancelled.status, await cancelled.json()]).toEqual([202, { cancelled: 'turn' }]);
  expect((await agent.client.untilType('completion')).data.stopReason).toBe('cancelled');
  agent.client.send('tool:approval', { callId: data.callId, approved: true });
  expect((await agent.client.untilType('error')).data.error.code).toBe('no_pending_tool_call');
  const { messages } = await cloud.ask<{ messages: readonly object[] }>(`/api/sessions/${agent.id}/messages`);
  expect(messages.at(-1)).toMatchObject({
    role: 'tool',
    outcome: 'failed',
    text: 'The user cancelled the turn; this call did not run.',
  });
});

test('with nothing to cancel the log is unchanged, and the answer is 202', async () => {
  const agent = await open();
  await agent.run('$ true');
  const { lastSeq } = (await agent.client.untilType('system:ready')).data;
  expect(lastSeq).toBe(-1);
  const before = await cloud.ask<{ events: readonly object[] }>(`/api/sessions/${agent.id}/events`);
  const cancelled = await cancelByRest(agent);
  expect([cancelled.status, await cancelled.json()]).toEqual([202, { cancelled: 'nothing' }]);
  expect(await cloud.ask(`/api/sessions/${agent.id}/events`)).toEqual(before);
  expect(await agent.run('$ echo fine')).toBe('fine\n');
});

test('a turn that waits for its sandbox to start is cancelled, too, and the next message is answered', async () => {
  // Longer than this test waits for anything.
  await cloud.setFaults({ provisioningMs: 300_000 });
  const { client, id } = await openAgent(cloud);
  client.send('message', { text: '$ echo never', messageId: 'm1' });
  await client.untilType('tool:call');
  client.send('turn:cancel');
  const cancelled = await client.untilType('completion');
  expect(cancelled.data.stopReason).toBe('cancelled');
  client.send('message', { text: 'hello', messageId: 'm2' });
  const answered = await client.untilType('completion', 1);
  expect(answered.data.stopReason).toBe('end_turn');
  expect((await showSession(cloud, id)).sandbox?.state).toBe('starting');
  await cloud.setFaults({});
  await client.close();
});
