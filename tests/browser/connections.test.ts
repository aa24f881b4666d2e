/** Consent page and Connections page: a person connects a client in the browser, sees it, and ends it. */
import { auth } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../local/endpoint/listen.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { connectByOAuth, makeProvider } from '../e2e/oauth-client.ts';
import { axe, openApp, phone, screenshot } from './browser.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

/** The address at which a client on this machine waits for its code. */
const openClient = async (): Promise<{ url: string; answer: Promise<URL> }> => {
  const answered = Promise.withResolvers<URL>();
  const { url, stop } = await listen(async (request, response) => {
    answered.resolve(new URL(request.url ?? '/', 'http://127.0.0.1'));
    response.end('You can close this page.');
  });
  onTestFinished(stop);
  return { url: `${url}/back`, answer: answered.promise };
};

/** The browser goes there once the person has decided. */
const toTheClient = /^a request to http:\/\/127\.0\.0\.1:\d+$|status of 400/;

const statusOfMcp = async (token = ''): Promise<number> =>
  (
    await fetch(`${cloud.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: '{}',
    })
  ).status;

test('a person connects a client for reading, which then reaches /mcp', async () => {
  const { url, answer } = await openClient();
  const { provider, kept } = makeProvider(url, { client_name: 'Claude Code' });
  const serverUrl = `${cloud.url}/mcp`;
  await auth(provider, { serverUrl });
  const page = await openApp(cloud, { expects: toTheClient });
  await page.goto(kept.page);
  await page.getByText('Claude Code').waitFor();
  await page.getByText('this machine').waitFor();
  await page.getByLabel('Access').selectOption({ label: 'Read only' });
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'connect');
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  const { code: authorizationCode = '', iss = '' } = Object.fromEntries((await answer).searchParams);
  expect(await auth(provider, { serverUrl, authorizationCode, iss })).toBe('AUTHORIZED');
  expect(kept.tokens?.scope).toMatch(/^project:[0-9a-f-]{36}:ro$/);
});

test('a refusal reaches the client, and a request with a fault is explained', async () => {
  const { url, answer } = await openClient();
  const { provider, kept } = makeProvider(url);
  await auth(provider, { serverUrl: `${cloud.url}/mcp` });
  const page = await openApp(cloud, { viewport: phone, expects: toTheClient });
  await page.goto(kept.page);
  await page.getByRole('button', { name: 'Refuse' }).click();
  expect((await answer).searchParams.get('error')).toBe('access_denied');
  await page.getByText('You can close this page.').waitFor();
  await page.goto(`${cloud.url}/#/connect?clientId=nobody`);
  await page.getByRole('alert').waitFor();
});

test('a connected client is listed and ended', async () => {
  onTestFinished(async () => void (await cloud.request('/api/auth/clients', { method: 'DELETE' })));
  const { tokens } = await connectByOAuth(cloud);
  expect(await statusOfMcp(tokens?.access_token)).not.toBe(401);
  const page = await openApp(cloud);
  await page.goto(`${cloud.url}/#/connections`);
  await page.getByRole('button', { name: 'Disconnect a client' }).waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'connections');
  await page.getByRole('button', { name: 'Disconnect a client' }).click();
  await page.getByText('a client disconnected').first().waitFor();
  expect(await statusOfMcp(tokens?.access_token)).toBe(401);
});

test('the commands that install the clients name archives of this deployment', async () => {
  const page = await openApp(cloud, { viewport: phone });
  await page.goto(`${cloud.url}/#/connections`);
  const section = page.getByRole('region', { name: 'For programs and terminals' });
  await section.waitFor();
  expect(await axe(page)).toEqual([]);
  await screenshot(page, 'connections-clients-phone');
  const commands = await section.locator('code').allTextContents();
  expect(commands.map((command) => command.split(' ')[0])).toEqual(['npm', 'pip', 'npm']);
  for (const command of commands) {
    const answer = await fetch(command.split(' ').at(-1) ?? '');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/gzip']);
  }
});
