/** Limits of a turn: its steps, its money, and the time of the function that works on it. */
import { expect, onTestFinished, test } from 'vitest';
import { type Agent, openAgent } from './agent.ts';
import { type EmbeddedCloud, type EmbeddedOptions, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { inOrder } from './socket-client.ts';

const open = async (options: EmbeddedOptions): Promise<EmbeddedCloud> => {
  const cloud = await openEmbeddedCloud(options);
  onTestFinished(cloud.stop);
  return cloud;
};

const stopReasons = (frames: readonly { readonly type: string; readonly data: { stopReason?: string } }[]) =>
  frames.filter(({ type }) => type === 'completion').map(({ data }) => data.stopReason);

test('a turn calls the model as often as MAX_STEPS_PER_TURN says, and its last tools still run', async () => {
  const two = await openAgent(await open({ variables: { MAX_STEPS_PER_TURN: '2' } }));
  expect(stopReasons(await two.say('$ echo fine'))).toEqual(['end_turn']);
  await two.close();
  const one = await openAgent(await open({ variables: { MAX_STEPS_PER_TURN: '1' } }));
  const frames = await one.say('$ echo ran');
  expect(stopReasons(frames)).toEqual(['steps_exceeded']);
  expect(frames.filter(({ type }) => type === 'tool:output')).toHaveLength(1);
  expect(stopReasons(await one.say('hello'))).toEqual(['end_turn']);
  await one.close();
});

test('a session whose money is spent calls no model any more, and reports its cost (T16)', async () => {
  const cloud = await open({
    variables: {
      MAX_COST_USD: '0.01',
      MODEL_PRICES: JSON.stringify({ demo: { input: 1000, output: 1000 } }),
    },
  });
  const agent = await openAgent(cloud);
  const frames = await agent.say('$ echo ran');
  expect(stopReasons(frames)).toEqual(['budget_exceeded']);
  expect(frames.filter(({ type }) => type === 'tool:output')).toHaveLength(1);
  const spent = frames.at(-1)?.data.sessionCostUsd;
  expect(spent).toBeGreaterThan(0.01);
  const again = await agent.say('hello');
  expect(again.map(({ type }) => type)).toEqual(['message', 'completion']);
  expect(again.at(-1)?.data).toMatchObject({
    stopReason: 'budget_exceeded',
    text: '',
    sessionCostUsd: spent,
  });
  const other = await openAgent(cloud);
  expect(stopReasons(await other.say('hi'))).toEqual(['end_turn']);
  await Promise.all([agent.close(), other.close()]);
});

test('a project’s own limit of money and its disabled tools apply in its sessions', async () => {
  const cloud = await open({
    variables: { MODEL_PRICES: JSON.stringify({ 'demo/demo': { input: 1000, output: 1000 } }) },
  });
  const { id: project } = await cloud.ask<{ id: string }>('/api/projects', {
    method: 'POST',
    body: JSON.stringify({
      name: 'frugal',
      limits: { maxCostUsd: 0.05 },
      disabledTools: ['execute_command'],
    }),
  });
  const agent = await openAgent(cloud, { project });
  const frames = await agent.say('$ echo ran\nlist');
  const failed = frames.filter(({ type }) => type === 'agent:error');
  expect(failed.map(({ data }) => data.message)).toEqual([
    'Tool execute_command failed: there is no tool execute_command',
  ]);
  expect(frames.filter(({ type }) => type === 'tool:output').map(({ data }) => data.name)).toEqual([
    'list_files',
  ]);
  const reasons = [...stopReasons(frames), ...stopReasons(await agent.say('hello'))];
  expect(reasons.at(-1)).toBe('budget_exceeded');
  await agent.close();
});

test('TM6: a limit that changes while a call runs holds before the model is asked again, be it lower or higher', async () => {
  const cloud = await open({
    variables: { MODEL_PRICES: JSON.stringify({ 'demo/demo': { input: 1000, output: 1000 } }) },
  });
  const change = (id: string, maxCostUsd: number | null) =>
    cloud.ask<{ maxCostUsd: number }>(`/api/sessions/${id}`, {
      method: 'PATCH',
      body: JSON.stringify({ maxCostUsd }),
    });
  const changedWhileRunning = async (
    agent: Agent,
    maxCostUsd: number | null,
  ): Promise<readonly unknown[]> => {
    const saying = agent.say('$ echo begun; until [ -e go ]; do sleep 0.1; done; rm go\n');
    await agent.client.untilType('tool:progress');
    await change(agent.id, maxCostUsd);
    await cloud.request(`/api/sessions/${agent.id}/files/go`, { method: 'PUT', body: '' });
    return stopReasons(await saying);
  };
  const lowered = await openAgent(cloud);
  expect(await changedWhileRunning(lowered, 0.001)).toEqual(['budget_exceeded']);
  expect((await change(lowered.id, null)).maxCostUsd).toBeGreaterThan(1);
  expect(stopReasons(await lowered.say('hello'))).toEqual(['end_turn']);
  const raised = await openAgent(cloud, { maxCostUsd: 0.001 });
  expect(await changedWhileRunning(raised, null)).toEqual(['end_turn']);
  await Promise.all([lowered.close(), raised.close()]);
});

test('a turn that outlives its function is handed over, and its tool runs once', async () => {
  const cloud = await open({ turnTimeoutMs: 23_000 });
  const agent = await openAgent(cloud);
  await agent.run('$ true');
  const saying = agent.say(
    '$ echo began >> runs.txt; until [ -e go ]; do sleep 0.1; done; echo ended >> runs.txt; cat runs.txt',
  );
  await eventually(
    async () => cloud.printed().includes('a turn is handed over'),
    (isLogged) => isLogged,
    20_000,
  );
  await cloud.request(`/api/sessions/${agent.id}/files/go`, { method: 'PUT', body: '' });
  const frames = await saying;
  expect(stopReasons(frames)).toEqual(['end_turn']);
  const outputs = frames.filter(({ type }) => type === 'tool:output');
  expect(outputs.map(({ data }) => data.content[0].text)).toEqual(['began\nended\n']);
  const numbers = inOrder(agent.client.frames).map(({ seq }) => seq);
  expect(numbers).toEqual(numbers.map((_, index) => index));
  expect(await agent.run('$ cat runs.txt')).toBe('began\nended\n');
  await agent.close();
});
