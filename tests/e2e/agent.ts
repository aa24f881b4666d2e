/** Sessions as these tests use them: an agent that needs no approval, what stands in the table, an idle one's rest. */
import { GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { ApiClient } from '#sdk/api-client.ts';
import type { AnswerOf } from '#sdk/route.ts';
import { api, type Session } from '#sdk/routes.ts';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { SandboxRecord } from '#shared/domain/sandbox.ts';
import { type EmbeddedCloud, eventually } from './embedded-cloud.ts';
import { type Client, connect, type Received } from './socket-client.ts';

export type Shown = Session;
export type Logged = AnswerOf<typeof api.readEvents>['events'][number];

type Sessions = Pick<EmbeddedCloud, 'url' | 'token'>;

export const makeSession = (cloud: Sessions, wish: object): Promise<Shown> =>
  new ApiClient(cloud).request(api.makeSession, { body: wish });

export const showSession = (cloud: Sessions, id: string): Promise<Shown> =>
  new ApiClient(cloud).request(api.showSession, { params: { id } });

/** Returns when its sandbox has stopped, so that no late event of it meets the next test. */
export const endSession = async (cloud: Sessions, id: string): Promise<void> => {
  await new ApiClient(cloud).request(api.endSession, { params: { id } });
  await eventually(
    () => showSession(cloud, id),
    ({ sandbox }) => sandbox === null || sandbox.state === 'stopped',
  );
};

/** The log's events of kind `system`, as those who poll read them. */
export const systemEvents = async (
  cloud: Sessions,
  id: string,
  kind: string,
): Promise<readonly Logged['data'][]> => {
  const { events } = await new ApiClient(cloud).request(api.readEvents, { params: { id } });
  return events
    .filter(({ type, data }) => type === 'system' && data['kind'] === kind)
    .map(({ data }) => data);
};

/** The sandbox as the table has it. */
export const sandboxRecord = async (
  { table }: Pick<EmbeddedCloud, 'table'>,
  workspace: string,
): Promise<SandboxRecord> => {
  const found = await makeWorkspaceStore(table).get(workspace as WorkspaceId);
  if (found?.sandbox === undefined) throw new Error(`workspace ${workspace} has no sandbox`);
  return found.sandbox;
};

/**
 * As if calls that wait for a client had waited for so long, and the function that would come back had died: the
 * janitor comes.
 */
export const passWait = async (cloud: EmbeddedCloud, id: string, milliseconds: number): Promise<void> => {
  const { client, name: TableName } = cloud.table;
  const earlier = (text: string): string =>
    text.replaceAll(/"(since|until)":(\d+)/g, (_, name, at) => `"${name}":${Number(at) - milliseconds}`);
  const read = () => client.send(new GetCommand({ TableName, Key: keys.turn(id), ConsistentRead: true }));
  const { Item } = await eventually(read, (found) => String(found.Item?.['state']).includes('"until"'));
  await client.send(
    new UpdateCommand({
      TableName,
      Key: keys.turn(id),
      UpdateExpression: 'SET #state = :state',
      ConditionExpression: 'version = :version',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: {
        ':state': earlier(String(Item?.['state'])),
        ':version': Item?.['version'],
      },
    }),
  );
  await makeDue(cloud, id);
  await cloud.janitor({ sweep: 'due' });
};

/** Once no turn holds the session. */
const makeDue = async (cloud: EmbeddedCloud, id: string): Promise<void> => {
  const due = {
    TableName: cloud.table.name,
    Key: keys.session(id),
    UpdateExpression: 'SET dueAt = :now',
    ConditionExpression: 'leaseUntil = :zero',
    ExpressionAttributeValues: { ':now': Date.now() - 1, ':zero': 0 },
  };
  await eventually(
    () => isWritten(cloud, due),
    (done) => done,
  );
};

/** As if the session's sandbox had become ready so long ago: its idle time does not begin before. Without effect on none. */
export const ageSandbox = async (
  cloud: Sessions & Pick<EmbeddedCloud, 'table'>,
  id: string,
  milliseconds: number,
): Promise<void> => {
  const { workspace } = await showSession(cloud, id);
  await isWritten(cloud, {
    TableName: cloud.table.name,
    Key: keys.workspace(workspace),
    UpdateExpression: 'SET sandbox.readyAt = :at',
    ConditionExpression: 'attribute_exists(sandbox.readyAt)',
    ExpressionAttributeValues: { ':at': Date.now() - milliseconds },
  });
};

const longMs = 1_000_000;

/** As if nothing had happened in the session for longer than it may be idle: the janitor takes its sandbox. */
export const restSandbox = async (cloud: EmbeddedCloud, id: string): Promise<void> => {
  const age = {
    TableName: cloud.table.name,
    Key: keys.session(id),
    UpdateExpression: 'SET lastActiveAt = lastActiveAt - :ms, dueAt = :now',
    ConditionExpression: 'leaseUntil = :zero',
    ExpressionAttributeValues: { ':ms': longMs, ':now': Date.now() - 1, ':zero': 0 },
  };
  await eventually(
    () => isWritten(cloud, age),
    (done) => done,
  );
  await ageSandbox(cloud, id, longMs);
  await cloud.janitor({ sweep: 'due' });
  const { sandbox } = await eventually(
    () => showSession(cloud, id),
    (session) => session.sandbox?.state === 'stopped',
  );
  if (sandbox?.reason !== 'idle')
    throw new Error(`the sandbox stopped for another reason: ${sandbox?.reason}`);
};

/** False where its condition does not hold: a turn's function is about to give its lease back, for example. */
const isWritten = async (
  { table }: Pick<EmbeddedCloud, 'table'>,
  update: UpdateCommandInput,
): Promise<boolean> => {
  try {
    await table.client.send(new UpdateCommand(update));
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'ConditionalCheckFailedException') return false;
    throw error;
  }
};

export type Agent = Shown & {
  readonly client: Client;
  /** All frames of one turn. */
  readonly say: (text: string) => Promise<readonly Received[]>;
  /** Output of the tools of one turn. */
  readonly run: (text: string) => Promise<string>;
  readonly close: () => Promise<void>;
};

export const openAgent = async (cloud: Sessions, options: object = {}): Promise<Agent> => {
  const made = await makeSession(cloud, { approvals: 'auto', flavor: 'micro', ...options });
  const client = await connect(cloud, { sessionId: made.id });
  await client.untilType('system:ready');
  let turns = 0;
  const turnOf = async (text: string): Promise<readonly Received[]> => {
    const from = client.frames.length;
    client.send('message', { text });
    await client.untilType('completion', turns);
    turns += 1;
    return client.frames.slice(from);
  };
  const say = (text: string): Promise<readonly Received[]> => {
    const turn = turnOf(text);
    // A test that fails before it awaits the turn leaves it behind: its end is then nobody's failure.
    turn.catch(() => undefined);
    return turn;
  };
  return {
    ...made,
    client,
    say,
    run: async (text) => toolOutput(await say(text)),
    close: async () => {
      await client.close();
      await endSession(cloud, made.id);
    },
  };
};

export const toolOutput = (frames: readonly Received[]): string =>
  frames
    .filter(({ type }) => type === 'tool:output')
    .map(({ data }) => data.content.map((block: { text: string }) => block.text).join(''))
    .join('');

/** The data of a turn's `system` events of one kind. */
export const systemData = (frames: readonly Received[], kind: string): readonly Received['data'][] =>
  frames.filter(({ type, data }) => type === 'system' && data.kind === kind).map(({ data }) => data);
