/**
 * The real OpenCode beside a person: its questions are approved on the page of the session, in a real browser, while the whole machine
 * is killed twice. The first death finds a question that waits, the second one a command that runs.
 *
 * After each start the turn goes on from the last checkpoint, in which OpenCode finds its conversation, and the log and the page say so.
 */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { ApiClient } from '#sdk/api-client.ts';
import { api } from '#sdk/routes.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import { provideChromium } from '../../local/chromium.ts';
import { buildWebWhenStale } from '../../local/web-build.ts';
import { approve, ended, say } from '../browser/chat.ts';
import { type Logged, makeSession } from '../e2e/agent.ts';
import { type AnthropicServer, openAnthropicServer } from '../e2e/anthropic-server.ts';
import { eventually } from '../e2e/embedded-cloud.ts';
import { makeHomePath, type Server, startServer } from '../e2e/server.ts';
import { killMachine } from './crash-life.ts';
import { installOpencode, mended, mending, preparing, repository } from './opencode-program.ts';
import { exactly, type Finding, type Proof } from './proof.ts';

const waitMsMax = 180_000;
const model = 'claude-haiku-5-5';
const wishes = ['Mend the sum.', 'Run the tests.'] as const;
/** Each run leaves a line outside the sandbox, and ends when it is let go on. */
const command =
  'echo run >> "$SHARED_VOLUME_PATH/runs" && until [ -e "$SHARED_VOLUME_PATH/go" ]; do sleep 0.2; done && node --test';
const running = { id: 'toolu_2', name: 'bash', input: { command, description: 'Runs the tests' } };

type Course = {
  readonly server: Server;
  readonly provider: AnthropicServer;
  readonly page: Page;
  readonly id: string;
  readonly shared: string;
  readonly progress: (line: string) => void;
  /** The program on the same folder and port, after its death with all that it had started. */
  readonly dieAndStart: () => Promise<void>;
};

export const opencodeMachine: Proof = async (progress) => {
  await using cleaning = new AsyncDisposableStack();
  const [folder, shared, home] = await Promise.all([makeFolder(), makeFolder(), makeHomePath()]);
  for (const made of [folder, shared, home]) cleaning.defer(() => rm(made, { recursive: true, force: true }));
  // Sandboxes write here as another user.
  await chmod(shared, 0o777);
  const program = await installOpencode(folder, progress);
  await buildWebWhenStale({ repository: resolve(import.meta.dirname, '..', '..'), progress });
  const provider = await openAnthropicServer();
  cleaning.defer(provider.close);
  const variables = {
    ...{ LLM_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: 'sk-of-the-deployment-alone' },
    ...{ ANTHROPIC_BASE_URL: provider.url, MSB_SHARED_VOLUME_PATH: shared },
  };
  const start = (port = '0'): Promise<Server> =>
    startServer({ home, variables: { ...variables, PORT: port } });
  let server = await start();
  cleaning.defer(async () => void (await server.stop()));
  const { port } = new URL(server.url);
  const id = await prepare(server, program);
  const page = await openPage(server, id, cleaning);
  const dieAndStart = async (): Promise<void> => {
    await killMachine(server);
    progress('the machine was killed');
    server = await start(port);
    progress('it listens again');
  };
  return await prove({ server, provider, page, id, shared, progress, dieAndStart });
};

const makeFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'sallyport-opencode-'));

const prepare = async (server: Server, program: Buffer): Promise<string> => {
  const { id } = await makeSession(server, { flavor: 'large', runtime: 'opencode', model, approvals: 'ask' });
  const sandbox = await new Sallyport(server).sandboxes.get(id);
  await sandbox.files.write('.local/bin/opencode', program);
  for (const [path, text] of Object.entries(repository)) await sandbox.files.write(path, text);
  const { exitCode, stderr } = await sandbox.exec(preparing);
  if (exitCode !== 0) throw new Error(stderr);
  return id;
};

const openPage = async (
  { url, token }: Server,
  id: string,
  cleaning: AsyncDisposableStack,
): Promise<Page> => {
  // biome-ignore lint/style/noProcessEnv: which browser is there is a fact of the machine
  const executablePath = await provideChromium(process.env);
  const browser = await chromium.launch({
    executablePath,
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  cleaning.defer(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(waitMsMax);
  await page.goto(`${url}/#token=${token}`);
  await page.getByRole('main').waitFor();
  await page.goto(`${url}/#/chat/${id}`);
  return page;
};

const prove = async (course: Course): Promise<readonly Finding[]> => {
  const { provider, page, shared, dieAndStart } = course;
  const [mend, test] = wishes;
  provider.script.push([mending]);
  await say(page, mend);
  const advisory = [await approveOnPage(course, 1)];
  await ended(page, 1);

  provider.script.push([running]);
  await say(page, test);
  await untilAsked(course, 2);
  await dieAndStart();
  // The question is of the sandbox that is gone: its answer finds another one, in which it is asked anew.
  provider.script.push([running]);
  advisory.push(await approveOnPage(course, 2), await approveOnPage(course, 3));
  await untilRuns(shared, 1);
  await dieAndStart();
  provider.script.push([running]);
  await writeFile(join(shared, 'go'), '');
  advisory.push(await approveOnPage(course, 4));
  await ended(page, 2);
  return findingsOf(course, advisory);
};

const findingsOf = async (
  { server, provider, page, id, shared, progress }: Course,
  advisory: readonly boolean[],
): Promise<readonly Finding[]> => {
  const log = await logOf(server, id);
  for (const { type, data } of log) progress(`${type} ${JSON.stringify(data).slice(0, 160)}`);
  const ofType = (wanted: string): readonly Logged[] => log.filter(({ type }) => type === wanted);
  const ends = ofType('completion').filter(({ data }) => data['stopReason'] === 'end_turn');
  const by = ofType('tool:decided').filter(({ data }) => JSON.stringify(data['by']).includes('"token"'));
  const restarts = ofType('system').filter(({ data }) => data['kind'] === 'runtime_restarted');
  const passed = ofType('tool:output').filter(({ data }) => JSON.stringify(data).includes('pass 1'));
  const lastAsked = JSON.stringify(provider.asked.at(-1));
  const written = await (await server.request(`/api/sessions/${id}/files/add.mjs`)).text();
  const runs = (await readFile(join(shared, 'runs'), 'utf8')).split('\n').length - 1;
  return [
    exactly('turns that ended by themselves', ends.length, wishes.length),
    exactly('questions that the page showed as advisory', advisory.filter(Boolean).length, 4),
    exactly('questions that were approved on the page', by.length, 4),
    exactly('files that it mended', written === mended ? 1 : 0, 1),
    exactly('runs of the tests, of which one was killed', runs, 2),
    exactly('runs of the tests that passed', passed.length, 1),
    exactly('times that the log says it went on in a new sandbox', restarts.length, 2),
    exactly('times that the page says so', await page.getByText(/continues in a new sandbox/).count(), 2),
    exactly('times that the agent was told', lastAsked.includes('the sandbox was lost') ? 1 : 0, 1),
    exactly(
      'messages of the person that the agent still knows',
      wishes.filter((wish) => lastAsked.includes(wish)).length,
      wishes.length,
    ),
  ];
};

/** Approves the question of this place in the log as a person does; true when the page says that it is advisory. */
const approveOnPage = async (course: Course, place: number): Promise<boolean> => {
  const { data } = await untilAsked(course, place);
  const { page } = course;
  await page.locator(`.digest[title*="${data['digest']}"]`).waitFor();
  const isAdvisory = await page.getByText('The agent in the sandbox asks').isVisible();
  await approve(page);
  await untilLogged(course, 'tool:decided', place);
  course.progress(`approved on the page: ${data['name']}`);
  return isAdvisory;
};

const untilAsked = (course: Course, place: number): Promise<Logged> =>
  untilLogged(course, 'tool:approval_required', place);

const untilLogged = async ({ server, id }: Course, type: string, place: number): Promise<Logged> => {
  const found = async () => (await logOf(server, id)).filter((event) => event.type === type)[place - 1];
  const event = await eventually(found, (one) => one !== undefined, waitMsMax);
  if (event === undefined) throw new Error(`no ${type}`);
  return event;
};

const untilRuns = (shared: string, count: number): Promise<string> =>
  eventually(
    () => readFile(join(shared, 'runs'), 'utf8').catch(() => ''),
    (text) => text === 'run\n'.repeat(count),
    waitMsMax,
  );

const logOf = async (server: Server, id: string): Promise<readonly Logged[]> =>
  (await new ApiClient(server).request(api.readEvents, { params: { id } })).events;
