/**
 * Ten thousand malformed requests through every door of a running server: each is refused in the words of the
 * contract, or answered, and the server is as well afterwards as before.
 *
 * `FUZZ_SEED` gives another seed than the one that every run of the tests repeats. No case of it is forgiven where a run repeats failed
 * tests: the server has changed by then, and what it met first it may not meet again.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { start as startDynamoDb } from '../../local/dynamodb/start.ts';
import { platformTable } from '../../local/dynamodb/table.ts';
import type { Endpoint } from '../../local/endpoint/listen.ts';
import { eventually } from './embedded-cloud.ts';
import { type Cast, executionSessionsMax, noteIds, prepareCast, spoken } from './fuzz/cast.ts';
import { drive } from './fuzz/drive.ts';
import { httpProblem } from './fuzz/http-verdicts.ts';
import { type ListedTool, mcpRequests } from './fuzz/mcp-requests.ts';
import { exchange, type RawRequest } from './fuzz/raw-http.ts';
import { type OpenApi, type RestCase, restRequests } from './fuzz/rest-requests.ts';
import { conversations, handshakes } from './fuzz/socket-cases.ts';
import { playConversation, playHandshake } from './fuzz/socket-play.ts';
import {
  forgottenSessions,
  listedSessions,
  loggedFaults,
  openSockets,
  residencyOf,
  transientItems,
} from './fuzz/wellness.ts';
import { connect as connectMcp } from './mcp-clients.ts';
import { isStrict, makeHomePath, type Server, startServer } from './server.ts';
import { connect } from './socket-client.ts';

// biome-ignore lint/style/noProcessEnv: a test run is a program, and this is how its seed is given
const seed = Number(process.env['FUZZ_SEED'] ?? 21);

const once = { retry: 0 };

/** Most of it is the code of all functions and what their threads have not given back yet. */
const residentMbMax = 1500;
/** In the strict mode each environment that runs a turn is a thread with the code of its function, which Lambda has elsewhere. */
const threadMbMax = isStrict ? 40 : 0;

let table: Endpoint;
let server: Server;
let cast: Cast;

beforeAll(async () => {
  table = await startDynamoDb({
    folder: await makeHomePath(),
    table: platformTable('sallyport'),
    expiryAttribute: 'ttl',
  });
  server = await startServer({
    variables: {
      MSB_MAX_SESSIONS: String(executionSessionsMax),
      AWS_ENDPOINT_URL_DYNAMODB: table.url,
      AWS_ACCESS_KEY_ID: table.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: table.credentials.secretAccessKey,
    },
  });
  cast = await prepareCast(server);
});
afterAll(async () => {
  await server.stop();
  await table.stop();
});

const say = (asked: RawRequest): RawRequest => ({
  ...asked,
  target: spoken(cast, asked.target),
  headers: asked.headers.map(([name, value]) => [name, spoken(cast, value)] as const),
  body: spoken(cast, asked.body),
});

const play = async (asked: RestCase): Promise<string | undefined> => {
  const answer = await exchange(cast.port, say(asked));
  if (answer.kind === 'answered') noteIds(cast, answer.text);
  return httpProblem(asked, answer, cast);
};
const show = (asked: object): string => JSON.stringify(asked, undefined, 1);

test('REST', once, async () => {
  const document = (await (await server.request('/api/openapi.json')).json()) as OpenApi;
  const played = await drive({ name: 'REST', cases: restRequests(document), count: 4000, play, show }, seed);
  expect(played).toHaveLength(4000);
});

test('MCP', once, async () => {
  const client = await connectMcp(server);
  const tools = (await client.tools()) as readonly ListedTool[];
  await client.close();
  const played = await drive({ name: 'MCP', cases: mcpRequests(tools), count: 3000, play, show }, seed);
  expect(played).toHaveLength(3000);
});

test('WebSocket, the handshake', once, async () => {
  const door = { name: 'handshakes', cases: handshakes, count: 400, show };
  await drive({ ...door, play: (asked) => playHandshake(say(asked), cast) }, seed);
});

test('WebSocket, the frames', once, async () => {
  const door = { name: 'frames', cases: conversations, count: 110, show };
  const played = await drive({ ...door, play: (asked) => playConversation(asked, cast) }, seed);
  expect(played.flatMap(({ said }) => said).length).toBeGreaterThan(2600);
});

test('afterwards no connection is left open', async () => {
  expect(
    await eventually(
      () => openSockets(cast.port),
      (count) => count === 0,
    ),
  ).toBe(0);
  expect(
    await eventually(
      () => transientItems(table),
      (items) => items.length === 0,
    ),
  ).toEqual([]);
});

test('afterwards every session is known to its creator', async () => {
  const owners = ['admin', 'project', 'foreign'].map((name) => cast.names.get(name) ?? '');
  const listed = (await Promise.all(owners.map((token) => listedSessions(server.url, token)))).flat();
  const ids = listed.map(({ id }) => id);
  // One that a socket made and that got no message goes a minute after its last connection.
  const used = listed.filter(({ status }) => status !== 'created').map(({ id }) => id);
  expect(used.filter((id) => !cast.sessions.includes(id) && !cast.told.has(id))).toEqual([]);
  const forgotten = await forgottenSessions(server.home);
  expect(cast.sessions.filter((id) => !ids.includes(id) && !forgotten.includes(id))).toEqual([]);
});

test('afterwards the log has no internal error', async () => {
  expect(
    await loggedFaults(
      server.home,
      cast.secrets.filter((secret) => secret !== server.home),
    ),
  ).toEqual([]);
});

test('afterwards memory is that of a busy server', async () => {
  const { residentMb, threads } = await residencyOf(server.pid);
  expect(residentMb).toBeLessThan(residentMbMax + threads * threadMbMax);
});

test('afterwards a turn works as before', async () => {
  const made = await server.request('/api/projects', { method: 'POST', body: '{"name":"afterwards"}' });
  const { id: project } = (await made.json()) as { id: string };
  const client = await connect(server, { project });
  client.send('message', { text: '$ echo as ever' });
  const { data } = await client.untilType('tool:approval_required');
  client.send('tool:approval', { callId: data.callId, approved: true });
  expect((await client.untilType('completion')).data).toMatchObject({
    stopReason: 'end_turn',
    text: expect.stringContaining('as ever'),
  });
  client.send('session:stop');
  await client.close();
});
