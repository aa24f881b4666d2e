/** The record of decisions: a chain per session (AP8), sealed and signed, exported, and checked without the deployment. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeMachine } from '../../cli/fixtures/run-cli.ts';
import { makeSession } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect } from './socket-client.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { LLM_PROVIDER: 'demo' }, sweepMs: 2000 });
});
afterAll(() => cloud.stop());

type Line = Readonly<Record<string, unknown>> & { readonly type: string };
const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

test('decisions form a chain, are exported with their seals, and a change of the file is found', async () => {
  const { id } = await makeSession(cloud, { flavor: 'micro' });
  const client = await connect(cloud, { sessionId: id });
  onTestFinished(() => client.close());
  await client.untilType('system:ready');
  client.send('message', { text: '$ echo one\n$ echo two' });
  for (const place of [0, 1]) {
    const { data } = await client.untilType('tool:approval_required', place);
    client.send('tool:approval', { callId: data.callId, approved: false, digest: data.digest });
  }
  await client.untilType('completion');
  const response = await cloud.request('/api/audit/export');
  expect(response.headers.get('content-type')).toContain('jsonl');
  const text = await response.text();
  const lines = linesOf(text);
  expect([lines[0]?.type, lines.at(-1)?.type]).toEqual(['key', 'end']);
  const decisions = lines.filter(({ subject, action }) => subject === id && action === 'approval.decide');
  expect(decisions.map(({ chain }) => chain)).toEqual([
    { index: 1, previous: '0'.repeat(64) },
    { index: 2, previous: decisions[0]?.['hash'] },
  ]);
  const machine = await makeMachine();
  const file = join(machine.folder, 'audit.jsonl');
  const check = async (content: string) => {
    await writeFile(file, content);
    return machine.run(['audit', 'verify', 'audit.jsonl']);
  };
  expect(await check(text)).toMatchObject({ code: 0, stdout: expect.stringContaining('as it was recorded') });
  const forged = text.replace('"approved":false', '"approved":true');
  expect(await check(forged)).toMatchObject({ code: 1, stdout: expect.stringContaining('was changed') });
});

test('rows are sealed and signed by the janitor, and only an administrator exports them', async () => {
  const exported = async () => linesOf(await (await cloud.request('/api/audit/export')).text());
  const isSeal = ({ type }: Line): boolean => type === 'seal';
  // Rows are sealed when a write of theirs cannot be on its way any more.
  const lines = await eventually(exported, (all) => all.some(isSeal), 180_000);
  const sealed = lines.find(isSeal);
  expect(sealed).toMatchObject({ number: 1, signature: expect.any(String), root: expect.any(String) });
  const machine = await makeMachine({ SALLYPORT_URL: cloud.url, SALLYPORT_TOKEN: cloud.token });
  expect(await machine.run(['audit', 'export', 'all.jsonl'])).toMatchObject({ code: 0 });
  expect(await machine.run(['--json', 'audit', 'verify', 'all.jsonl'])).toMatchObject({ code: 0 });
  const { token } = await cloud.ask<{ token: string }>('/api/tokens', {
    method: 'POST',
    body: JSON.stringify({ name: 'reader', scope: 'admin:ro' }),
  });
  const asReader = { headers: { authorization: `Bearer ${token}` } };
  expect((await cloud.request('/api/audit/export', asReader)).status).toBe(200);
  const { id: project } = await cloud.ask<{ id: string }>('/api/projects', {
    method: 'POST',
    body: JSON.stringify({ name: `audit ${Date.now()}` }),
  });
  const { token: narrow } = await cloud.ask<{ token: string }>('/api/tokens', {
    method: 'POST',
    body: JSON.stringify({ name: 'narrow', scope: `project:${project}` }),
  });
  const asProject = { headers: { authorization: `Bearer ${narrow}` } };
  expect((await cloud.request('/api/audit/export', asProject)).status).toBe(403);
}, 240_000);
