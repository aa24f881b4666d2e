/**
 * The real OpenCode, of the npm registry, carries a turn in a sandbox without a network: it edits a file of a small repository, asks before
 * it runs the tests, and its functions are killed meanwhile. Its model is a server of this machine, reached by the broker alone.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '#sdk/api-client.ts';
import { api } from '#sdk/routes.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import { type Logged, makeSession } from '../e2e/agent.ts';
import { openAnthropicServer } from '../e2e/anthropic-server.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { installOpencode, mended, mending, preparing, repository } from './opencode-program.ts';
import { exactly, type Finding, type Proof } from './proof.ts';

const key = 'sk-of-the-deployment-alone';
const model = 'claude-haiku-5-5';
const waitMsMax = 180_000;

export const opencode: Proof = async (progress) => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-opencode-'));
  const provider = await openAnthropicServer();
  const cloud = await openEmbeddedCloud({
    variables: {
      ...{ LLM_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: provider.url },
      TURN_LEASE_SECONDS: '10',
    },
    // Sweeps of a busy machine must not pile up.
    sweepMs: 5000,
  });
  try {
    const program = await installOpencode(folder, progress);
    provider.script.push(
      [mending],
      [{ id: 'toolu_2', name: 'bash', input: { command: tests, description: 'Runs the tests' } }],
    );
    const findings = await prove(cloud, program, progress);
    const asked = provider.asked.length;
    return [
      ...findings,
      { what: 'calls of the model, by the broker', counted: asked, wanted: 'some', isMet: asked >= 3 },
    ];
  } finally {
    await cloud.stop();
    provider.close();
    await rm(folder, { recursive: true, force: true });
  }
};

const tests = 'node --test && env && git log --oneline';
/** The environments of all its programs, then the files that may be written to; the command itself has the key in two pieces. */
const [begin, rest] = [key.slice(0, 10), key.slice(10)];
const search = [
  `printf '%s%s' ${begin} ${rest} > /tmp/witness`,
  "(cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -cFf /tmp/witness || true)",
  '(grep -rlsFf /tmp/witness /workspace /tmp /run /home /root /etc /dev/shm || true)',
].join('; ');

const prove = async (
  cloud: EmbeddedCloud,
  program: Buffer,
  progress: (line: string) => void,
): Promise<readonly Finding[]> => {
  const { id } = await makeSession(cloud, { flavor: 'large', runtime: 'opencode', model, approvals: 'ask' });
  const { files } = await new Sallyport(cloud).sandboxes.get(id);
  await files.write('.local/bin/opencode', program);
  for (const [path, text] of Object.entries(repository)) await files.write(path, text);
  await exec(cloud, id, preparing);
  progress('the message is sent');
  await post(cloud, `/api/sessions/${id}/messages`, { text: 'Mend the sum, and run the tests.' });
  const asked: unknown[] = [];
  let log: readonly Logged[] = [];
  for (let decided = 0; ; decided += 1) {
    log = await eventually(
      () => logOf(cloud, id),
      (events) => isOver(events) || questionsIn(events).length > decided,
      waitMsMax,
    );
    const question = questionsIn(log)[decided];
    if (question === undefined) break;
    progress(`asked: ${JSON.stringify(question.data).slice(0, 200)}`);
    asked.push(question.data['name']);
    await cloud.killFunctions();
    const { callId, digest } = question.data;
    await post(cloud, `/api/sessions/${id}/approvals/${callId}`, { approved: true, digest });
    await cloud.killFunctions();
  }
  const completion = log.find(({ type }) => type === 'completion');
  progress(`ended: ${JSON.stringify(completion?.data)}`);
  const outputs = log.filter(({ type }) => type === 'tool:output').map(({ data }) => JSON.stringify(data));
  const written = await (await cloud.request(`/api/sessions/${id}/files/add.mjs`)).text();
  const searched = await exec(cloud, id, search);
  const advisory = questionsIn(log).filter(({ data }) => data['advisory'] === true);
  return [
    exactly('turns that ended by themselves', completion?.data['stopReason'] === 'end_turn' ? 1 : 0, 1),
    exactly('files that it mended', written === mended ? 1 : 0, 1),
    exactly('questions that were answered', asked.length, 2),
    exactly('questions that are advisory', advisory.length, asked.length),
    exactly('outputs in the log', outputs.length, 2),
    exactly('runs of the tests that passed', outputs.filter((text) => text.includes('pass 1')).length, 1),
    exactly(
      'files and environments inside with the key, beside the witness',
      searched === '0\n/tmp/witness\n' ? 0 : 1,
      0,
    ),
    exactly('keys in what its tools printed', outputs.filter((text) => text.includes(key)).length, 0),
    exactly('events said twice', log.length - new Set(log.map(({ data }) => JSON.stringify(data))).size, 0),
  ];
};

const logOf = async (cloud: EmbeddedCloud, id: string): Promise<readonly Logged[]> =>
  (await new ApiClient(cloud).request(api.readEvents, { params: { id } })).events;
const questionsIn = (events: readonly Logged[]) =>
  events.filter(({ type }) => type === 'tool:approval_required');
const isOver = (events: readonly Logged[]): boolean => events.some(({ type }) => type === 'completion');

const exec = async (cloud: EmbeddedCloud, id: string, command: string): Promise<string> => {
  const { exitCode, stdout, stderr } = await post<{ exitCode: number; stdout: string; stderr: string }>(
    cloud,
    `/api/sessions/${id}/exec`,
    { command },
  );
  if (exitCode !== 0) throw new Error(`${command}: ${stderr}`);
  return stdout;
};

const post = <T>(cloud: EmbeddedCloud, path: string, body: object): Promise<T> =>
  cloud.ask<T>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
