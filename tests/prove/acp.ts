/**
 * Agents that others made, by the Agent Client Protocol, each in a sandbox without a network: the example agent of the protocol's own npm
 * package, which is allowed and refused a change, and OpenCode, which speaks the protocol itself and does the work of `opencode.ts`.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { Sallyport } from '#sdk/sallyport.ts';
import type { Sandbox } from '#sdk/sandbox.ts';
import { settingsOf } from '../../sandbox-task/server/agent/opencode/opencode-wire.ts';
import { makeSession } from '../e2e/agent.ts';
import { openAnthropicServer } from '../e2e/anthropic-server.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { installOpencode, mended, mending, preparing, repository } from './opencode-program.ts';
import { exactly, type Finding, type Proof } from './proof.ts';

/** The last one whose package has the example. */
const example = '@agentclientprotocol/sdk@0.5.1';
const model = 'claude-haiku-5-5';
const testing = {
  id: 'toolu_2',
  name: 'bash',
  input: { command: 'node --test', description: 'Runs the tests' },
};

export const acp: Proof = async (progress) => {
  await using cleaning = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-acp-'));
  cleaning.defer(() => rm(folder, { recursive: true, force: true }));
  // OpenCode asks for a title as well, without tools.
  const provider = await openAnthropicServer(({ tools = [] }) => tools.length > 0);
  cleaning.defer(provider.close);
  const cloud = await openEmbeddedCloud({
    variables: {
      ...{ LLM_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: 'sk-of-the-deployment-alone' },
      ANTHROPIC_BASE_URL: provider.url,
    },
    sweepMs: 1000,
  });
  cleaning.defer(() => cloud.stop());
  progress(`installing ${example}`);
  const agent = await installExample(folder);
  const findings = [
    ...(await proveExample(cloud, { agent, approves: true })),
    ...(await proveExample(cloud, { agent, approves: false })),
  ];
  const program = await installOpencode(folder, progress);
  provider.script.push([mending], [testing]);
  return [...findings, ...(await proveOpencode(cloud, program))];
};

/** One file, since the sandbox has no network. */
const installExample = async (folder: string): Promise<string> => {
  await promisify(execFile)('npm', ['install', '--no-save', '--ignore-scripts', '--prefix', folder, example]);
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'node_modules/@agentclientprotocol/sdk/dist/examples/agent.js')],
    ...{ bundle: true, write: false, platform: 'node', format: 'esm', target: 'node20' },
  });
  return outputFiles[0]?.text ?? '';
};

/** The session's sandbox and what its one turn says, of which every question is answered alike. */
const converse = async (
  cloud: EmbeddedCloud,
  {
    prepare,
    approves,
  }: { readonly prepare: (sandbox: Sandbox) => Promise<void>; readonly approves: boolean },
) => {
  const { id } = await makeSession(cloud, { flavor: 'large', runtime: 'acp', model, approvals: 'ask' });
  const sallyport = new Sallyport(cloud);
  const sandbox = await sallyport.sandboxes.get(id);
  await prepare(sandbox);
  const { exitCode, stderr } = await sandbox.exec('chmod +x .local/bin/*');
  if (exitCode !== 0) throw new Error(stderr);
  const session = await sallyport.sessions.get(id);
  const questions: string[] = [];
  const said: string[] = [];
  let stopReason = '';
  for await (const event of session.send('Mend the sum, and run the tests.')) {
    if (event.type === 'message' && event.data.role === 'assistant') said.push(event.data.text);
    if (event.type === 'tool:output') said.push(JSON.stringify(event.data.content));
    if (event.type === 'completion') stopReason = event.data.stopReason;
    if (event.type !== 'tool:approval_required') continue;
    if (event.data.advisory === true) questions.push(event.data.name);
    await (approves ? session.approve(event) : session.reject(event));
  }
  return { sandbox, questions, said: said.join('\n'), stopReason };
};

const proveExample = async (
  cloud: EmbeddedCloud,
  { agent, approves }: { readonly agent: string; readonly approves: boolean },
): Promise<readonly Finding[]> => {
  const prepare = (sandbox: Sandbox) => sandbox.files.write('.local/bin/acp-agent', agent);
  const { questions, said, stopReason } = await converse(cloud, { prepare, approves });
  const [name, last] = approves
    ? ['allowed', "I've successfully updated the configuration"]
    : ['refused', "I'll skip the configuration update"];
  return [
    exactly(`the example agent, ${name}: questions`, questions.length, 1),
    exactly(`the example agent, ${name}: last words`, said.includes(last) ? 1 : 0, 1),
    exactly(`the example agent, ${name}: ends by itself`, stopReason === 'end_turn' ? 1 : 0, 1),
  ];
};

const proveOpencode = async (cloud: EmbeddedCloud, program: Buffer): Promise<readonly Finding[]> => {
  const settings = {
    ...settingsOf('anthropic', model),
    permission: { edit: 'ask', bash: 'ask', question: 'deny' },
  };
  const start = `#!/bin/sh\nexport OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_CONFIG_CONTENT='${JSON.stringify(settings)}'\nexec opencode acp\n`;
  const prepare = async (made: Sandbox): Promise<void> => {
    const { files } = made;
    await files.write('.local/bin/opencode', program);
    await files.write('.local/bin/acp-agent', start);
    for (const [path, text] of Object.entries(repository)) await files.write(path, text);
    await made.exec(preparing);
  };
  const { sandbox, questions, said, stopReason } = await converse(cloud, { prepare, approves: true });
  const written = await sandbox.files.read('add.mjs');
  return [
    exactly('OpenCode: questions', questions.length, 2),
    exactly('OpenCode: files that it mended', written === mended ? 1 : 0, 1),
    exactly('OpenCode: runs of the tests that passed', said.includes('pass 1') ? 1 : 0, 1),
    exactly('OpenCode: ends by itself', stopReason === 'end_turn' ? 1 : 0, 1),
  ];
};
