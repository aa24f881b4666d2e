/**
 * An agent for a sandbox of the tests, written with the protocol's own library: its prompt is a script of lines, `say <text>`, `think <text>`,
 * `ask <command>`, `hang`, `model` (asks its model through the broker), `recall`, `die`. Bundled into one file, since a sandbox has no network.
 */
import { build } from 'esbuild';

const source = `
import { execFile } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import Anthropic from '@anthropic-ai/sdk';
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';

const told = [];
let cancel = () => undefined;
console.error('starting');
process.stdout.write('a line that is no message\\n');

const sh = (command) =>
  new Promise((resolve) =>
    execFile('/bin/sh', ['-c', command], (error, stdout, stderr) => resolve([error !== null, stdout + stderr])));

const run = async (line, { say, client, sessionId }) => {
  const [, verb, rest = ''] = /^(\\w+) ?(.*)$/.exec(line) ?? [];
  const text = (sessionUpdate, text) => say({ sessionUpdate, content: { type: 'text', text } });
  if (verb === 'say') for (const part of rest.match(/.{1,4}/g)) await text('agent_message_chunk', part);
  if (verb === 'think') await text('agent_thought_chunk', rest);
  if (verb === 'recall') await text('agent_message_chunk', 'I was told: ' + told.join(' / '));
  if (verb === 'die') process.exit(3);
  if (verb === 'hang') await new Promise((resolve) => { cancel = resolve; });
  if (verb === 'model') {
    const stream = new Anthropic({ maxRetries: 0 }).messages.stream({
      model: process.env.ANTHROPIC_MODEL, max_tokens: 100, messages: [{ role: 'user', content: rest }],
    });
    await text('agent_message_chunk', await stream.finalText());
  }
  if (verb !== 'ask') return;
  const toolCall = { toolCallId: crypto.randomUUID(), title: 'Run ' + rest, kind: 'execute', rawInput: { command: rest } };
  await say({ sessionUpdate: 'tool_call', ...toolCall, status: 'pending' });
  const { outcome } = await client.request(methods.client.session.requestPermission, {
    sessionId, toolCall,
    options: [
      { optionId: 'always', name: 'Always', kind: 'allow_always' },
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ],
  });
  const is = outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome;
  const { toolCallId } = toolCall;
  if (is === 'yes') await say({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' });
  const [isError, output] = is === 'yes' ? await sh(rest) : [true, 'answered: ' + is];
  const content = [{ type: 'content', content: { type: 'text', text: output } }];
  await say({ sessionUpdate: 'tool_call_update', toolCallId, status: isError ? 'failed' : 'completed', content });
};

const app = agent({ name: 'tests' });
app.onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} }));
app.onRequest(methods.agent.session.new, () => ({ sessionId: crypto.randomUUID() }));
app.onNotification(methods.agent.session.cancel, () => cancel('cancelled'));
app.onRequest(methods.agent.session.prompt, async ({ params, client }) => {
  const { sessionId, prompt } = params;
  const say = (update) => client.notify(methods.client.session.update, { sessionId, update });
  let isCancelled = false;
  cancel = () => { isCancelled = true; };
  const lines = prompt.map(({ text }) => text).join('\\n');
  told.push(lines);
  for (const line of lines.split('\\n')) {
    if ((await run(line, { say, client, sessionId })) === 'cancelled') isCancelled = true;
    if (isCancelled || line === 'hang') return { stopReason: 'cancelled' };
  }
  return { stopReason: 'end_turn' };
});
app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
`;

/** One executable file. */
export const acpAgent = async (): Promise<string> => {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: import.meta.dirname, loader: 'js' },
    ...{ bundle: true, write: false, minify: true, keepNames: true, platform: 'node', format: 'esm' },
    target: 'node20',
    banner: {
      js: "#!/opt/sallyport/bin/node\nimport { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  return outputFiles[0]?.text ?? '';
};
