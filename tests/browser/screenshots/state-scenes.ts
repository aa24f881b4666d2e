/** Data of the states that a person looks at: an entry or two on each page, made over the API as users make them. */
import {
  type Loopback,
  listen,
  modernServer,
} from '../../../shared/adapters/mcp/fixtures/loopback-servers.ts';
import type { EmbeddedCloud } from '../../e2e/embedded-cloud.ts';
import { connectByOAuth } from '../../e2e/oauth-client.ts';
import type { PacedProvider } from '../paced-provider.ts';
import { png, post, setAttached, setRich, setWaiting, setWorking } from './state-sessions.ts';

export type StateScenes = {
  readonly project: string;
  readonly working: string;
  readonly waiting: string;
  readonly attached: string;
  readonly rich: string;
  readonly schedule: string;
  readonly otherToken: string;
  readonly emptyToken: string;
  readonly files: readonly { readonly name: string; readonly mimeType: string; readonly buffer: Buffer }[];
};

export const setStateScenes = async (
  cloud: EmbeddedCloud,
  provider: PacedProvider,
  defer: (close: () => Promise<void>) => void,
): Promise<StateScenes> => {
  const { id: project } = await post<{ id: string }>(cloud, '/api/projects', {
    name: 'payments',
    description: 'Agents that look after the billing service of the shop.',
    instructions: 'Be brief. Run the tests before you answer.',
    agents: [{ name: 'reviewer', instructions: 'Be strict.' }],
    limits: { maxCostUsd: 25 },
  });
  for (const name of ['STRIPE_KEY', 'GITHUB_TOKEN', 'A_NAME_THAT_IS_MUCH_LONGER_THAN_THE_OTHERS_ARE'])
    await cloud.ask(`/api/projects/${project}/secrets/${name}`, {
      method: 'PUT',
      body: '{"value":"x-secret"}',
    });
  await setServers(cloud, defer);

  const scene = { cloud, provider };
  const working = await setWorking(scene, project);
  const rich = await setRich(scene);
  const attached = await setAttached(scene);
  const waiting = await setWaiting(scene, project);
  const schedule = await post<{ id: string }>(cloud, '/api/schedules', {
    name: 'nightly report',
    cronExpr: '30 6 * * 1-5',
    prompt: 'Write the report of yesterday.',
    targets: [{ projectId: project }],
  });
  await post(cloud, `/api/schedules/${schedule.id}/trigger`, {});
  await post(cloud, '/api/webhooks', {
    url: 'https://hooks.example.com/sallyport',
    events: ['approval_required', 'turn_failed'],
  });
  const token = (name: string, scope: string) =>
    post<{ token: string }>(cloud, '/api/tokens', { name, scope });
  const { token: otherToken } = await token('ci', `project:${project}`);
  const { id: empty } = await post<{ id: string }>(cloud, '/api/projects', { name: 'empty' });
  const { token: emptyToken } = await token('newcomer', `project:${empty}`);
  await connectByOAuth(cloud);
  const files = [
    { name: 'a-photo.png', mimeType: 'image/png', buffer: png },
    {
      name: 'notes-of-the-meeting-with-a-rather-long-name.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('hello'),
    },
  ];
  return { project, working, waiting, attached, rich, schedule: schedule.id, otherToken, emptyToken, files };
};

const setServers = async (
  cloud: EmbeddedCloud,
  defer: (close: () => Promise<void>) => void,
): Promise<void> => {
  const schema = { type: 'object' };
  const well: Loopback = await modernServer({
    list: [
      {
        name: 'search_issues',
        description: 'Finds issues by words, labels and authors.',
        inputSchema: schema,
      },
      { name: 'read_issue', inputSchema: schema },
    ],
  });
  const ill = await listen((_, response) => response.writeHead(401).end());
  defer(well.stop);
  defer(ill.stop);
  const add = (name: string, config: object) =>
    cloud.ask('/api/mcp/add', { method: 'POST', body: JSON.stringify({ name, config }) });
  await add('issues', { transport: 'http', url: well.url });
  await add('tickets', { transport: 'http', url: ill.url, headers: { Authorization: 'Bearer x' } });
  await add('inside', {
    transport: 'stdio',
    command: 'npx',
    args: ['-y', 'server'],
    env: { TOKEN: `\${STRIPE_KEY}` },
  });
  await cloud.janitor({ sweep: 'mcp' });
};
