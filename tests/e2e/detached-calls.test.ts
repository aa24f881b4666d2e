/** Calls that take longer than a function waits: found by the janitor, kept from idleness, killed with their turn. */
import { StopTaskCommand } from '@aws-sdk/client-ecs';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import { type Agent, ageSandbox, openAgent, showSession, toolOutput } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { TOOL_WAIT_SECONDS: '1' } });
});
afterAll(() => cloud.stop());

const itemAt = async (key: { readonly pk: string; readonly sk: string }) => {
  const { client, name: TableName } = cloud.table;
  const { Item = {} } = await client.send(new GetCommand({ TableName, Key: key, ConsistentRead: true }));
  return Item;
};

/** Once its function has left it. */
const untilDetached = async ({ id }: Agent): Promise<void> => {
  await eventually(
    () => itemAt(keys.session(id)),
    (item) => item['leaseUntil'] === 0 && Object.keys(item['runningCalls'] ?? {}).length > 0,
  );
};

/** The sweep that comes next. */
const sweepSession = async ({ id }: Agent): Promise<void> => {
  const { client, name: TableName } = cloud.table;
  await client.send(
    new UpdateCommand({
      ...{ TableName, Key: keys.session(id), UpdateExpression: 'SET dueAt = :now' },
      ExpressionAttributeValues: { ':now': Date.now() - 1 },
    }),
  );
  await cloud.janitor({ sweep: 'due' });
};

const slowly = (command: string): string => `$ until [ -e go ]; do sleep 0.1; done; ${command}`;
const letGo = (agent: Agent): Promise<Response> =>
  cloud.request(`/api/sessions/${agent.id}/files/go`, { method: 'PUT', body: 'now' });

test('a call runs on while no function waits; a look before its end changes nothing, one after it brings its result', async () => {
  const agent = await openAgent(cloud);
  const turn = agent.say(slowly('echo ran >> runs.txt; cat runs.txt'));
  await untilDetached(agent);
  const before = await itemAt(keys.turn(agent.id));
  const { dueAt } = await itemAt(keys.session(agent.id));
  expect(Number(dueAt) - Date.now()).toBeLessThanOrEqual(15_000);

  await sweepSession(agent);
  await untilDetached(agent);
  expect((await itemAt(keys.turn(agent.id)))['version']).toBe(before['version']);

  await letGo(agent);
  await eventually(
    async () => {
      await sweepSession(agent);
      return (await itemAt(keys.turn(agent.id)))['version'];
    },
    (version) => version !== before['version'],
  );
  const frames = await turn;
  expect(toolOutput(frames)).toBe('ran\n');
  expect(frames.filter(({ type }) => type === 'tool:output')).toHaveLength(1);
  expect((await itemAt(keys.session(agent.id)))['runningCalls']).toEqual({});
  await agent.close();
});

test('an idle limit does not take the sandbox of a detached call', async () => {
  const agent = await openAgent(cloud, { idleSeconds: 1 });
  const turn = agent.say(slowly('echo kept'));
  await untilDetached(agent);
  const { client, name: TableName } = cloud.table;
  await client.send(
    new UpdateCommand({
      ...{ TableName, Key: keys.session(agent.id) },
      UpdateExpression: 'SET lastActiveAt = lastActiveAt - :ms',
      ExpressionAttributeValues: { ':ms': 1_000_000 },
    }),
  );
  await ageSandbox(cloud, agent.id, 1_000_000);
  await sweepSession(agent);
  await untilDetached(agent);
  expect((await showSession(cloud, agent.id)).sandbox?.state).toBe('ready');
  await letGo(agent);
  await untilEnded(agent, turn);
  expect(toolOutput(await turn)).toBe('kept\n');
  await agent.close();
});

const untilEnded = async (agent: Agent, turn: Promise<unknown>): Promise<void> => {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  void turn.then(end, end);
  await eventually(
    async () => {
      await sweepSession(agent);
      return isOver;
    },
    (over) => over,
  );
};

test('a cancel kills a detached call', async () => {
  const agent = await openAgent(cloud);
  const turn = agent.say('$ touch began; exec sleep 1234');
  await untilDetached(agent);
  agent.client.send('turn:cancel', {});
  const frames = await turn;
  expect(frames.at(-1)?.data.stopReason).toBe('cancelled');
  const running = await eventually(
    () => agent.run("$ ls began; grep -alz '^1234' /proc/[0-9]*/cmdline | wc -l"),
    (output) => output.trim().endsWith('0'),
  );
  expect(running).toBe('began\n0\n');
  await agent.close();
});

test('a detached call whose sandbox is lost has an unknown outcome, and is not run again', async () => {
  const agent = await openAgent(cloud);
  const turn = agent.say(slowly('echo never'));
  await untilDetached(agent);
  for (const task of await cloud.runningTasks())
    await cloud.ecs.send(new StopTaskCommand({ cluster: 'sallyport', task, reason: 'a test' }));
  await agent.client.until(({ type, data }) => type === 'system' && data.kind === 'sandbox_stopped');
  await untilEnded(agent, turn);
  const failed = (await turn).filter(({ type }) => type === 'agent:error');
  expect(failed.map(({ data }) => data.code)).toEqual(['tool_outcome_unknown']);
  expect((await showSession(cloud, agent.id)).sandbox?.state).toBe('stopped');
  await agent.close();
});
