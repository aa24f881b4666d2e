/** A sandbox whose turn waits for a person is saved and stopped, and is back when the decision comes. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeSession } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect } from './socket-client.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({
    variables: { LLM_PROVIDER: 'demo', WAIT_STOP_SECONDS: '1' },
  });
});
afterAll(() => cloud.stop());

test('a sandbox stops while only a person can move its turn, comes back while the prompt is read, and has its files after the decision', async () => {
  const { id } = await makeSession(cloud, { flavor: 'micro', approvals: 'ask' });
  const client = await connect(cloud, { sessionId: id });
  onTestFinished(() => client.close());
  await client.untilType('system:ready');
  const put = await cloud.request(`/api/sessions/${id}/files/kept.txt`, { method: 'PUT', body: 'kept' });
  expect(put.status).toBeLessThan(300);
  client.send('message', { text: '$ cat kept.txt' });
  const { data } = await client.untilType('tool:approval_required');
  type Sandbox = { readonly state?: string; readonly readyAt?: string };
  type Shown = { readonly sandbox?: Sandbox };
  const swept = async (): Promise<Shown> => {
    await cloud.janitor({ sweep: 'due' });
    return cloud.ask<Shown>(`/api/sessions/${id}`);
  };
  const stopped = await eventually(swept, ({ sandbox }) => sandbox?.state === 'stopped');
  expect(stopped.sandbox).toMatchObject({ state: 'stopped' });
  const prompt = `/api/sessions/${id}/approvals/${data.callId}`;
  const reader = await cloud.ask<{ token: string }>('/api/tokens', {
    method: 'POST',
    body: JSON.stringify({ name: 'reader', scope: 'admin:ro' }),
  });
  await cloud.request(prompt, { headers: { authorization: `Bearer ${reader.token}` } });
  expect((await cloud.ask<Shown>(`/api/sessions/${id}`)).sandbox).toMatchObject({ state: 'stopped' });
  await cloud.ask(prompt);
  // Its record keeps `readyAt` after the stop: the time of another start stays visible, however short it was ready.
  const again = await eventually(
    swept,
    ({ sandbox }) =>
      sandbox?.state === 'stopped' &&
      sandbox.readyAt !== undefined &&
      sandbox.readyAt !== stopped.sandbox?.readyAt,
  );
  expect(again.sandbox?.state).toBe('stopped');
  client.send('tool:approval', { callId: data.callId, approved: true, digest: data.digest });
  await client.untilType('completion');
  const output = client.frames.find(({ type }) => type === 'tool:output');
  expect(JSON.stringify(output?.data)).toContain('kept');
});
