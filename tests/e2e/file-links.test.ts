/** Links to files: no token opens them, a write uses one up, and they end with the token that made them. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeSession, restSandbox, showSession } from './agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';

type Made = { readonly url: string; readonly expiresAt: string };
type Token = { readonly token: string; readonly id: string };

let cloud: EmbeddedCloud;
let id: string;
let maker: Token;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());
beforeEach(async () => {
  maker = await newToken('admin');
});

const newToken = (scope: string): Promise<Token> =>
  cloud.ask<Token>('/api/tokens', { method: 'POST', body: JSON.stringify({ name: 'a maker', scope }) });

const ask = (token: string, body: object): Promise<Response> =>
  fetch(`${cloud.url}/api/sessions/${id}/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const linkTo = async (path: string, method: string, expiresInSeconds = 60): Promise<Made> => {
  const answer = await ask(maker.token, { path, method, expiresInSeconds });
  expect(answer.status).toBe(201);
  return (await answer.json()) as Made;
};
const codeOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string } };
  return [response.status, error.code];
};
const put = (url: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: 'PUT', body, headers });

test('a link writes a file once, also when two try', async () => {
  // Of each try its own, in which the file is new. The tests below read it.
  ({ id } = await makeSession(cloud, { flavor: 'micro' }));
  const { url } = await linkTo('in/ü x.txt', 'PUT');
  expect((await fetch(url)).status).toBe(404);
  expect(await codeOf(await put(url, 'part', { 'content-range': 'bytes 0-3/8' }))).toEqual([
    400,
    'invalid_request',
  ]);
  const both = await Promise.all([put(url, 'hello'), put(url, 'hello')]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 404]);
  expect(
    await (await cloud.request(`/api/sessions/${id}/files/in/${encodeURIComponent('ü x.txt')}`)).text(),
  ).toBe('hello');
});

test('a write that is refused leaves the link good', async () => {
  const { url } = await linkTo('in', 'PUT');
  expect((await put(url, 'x')).status).toBe(400);
  expect((await put(url, 'x')).status).toBe(400);
});

test('AC9: a link reads the file as an attachment, and starts no sandbox', async () => {
  // A try that failed may have stopped its sandbox.
  await cloud.request(`/api/sessions/${id}/files`);
  const { url } = await linkTo('in/ü x.txt', 'GET');
  const running = await fetch(url);
  expect([running.status, await running.text()]).toEqual([200, 'hello']);
  await restSandbox(cloud, id);
  const saved = await fetch(url);
  expect([saved.status, await saved.text()]).toEqual([200, 'hello']);
  expect(saved.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''%C3%BC%20x.txt");
  expect(saved.headers.get('x-content-type-options')).toBe('nosniff');
  const head = await fetch(url, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '5']);
  for (const name of ['content-disposition', 'x-content-type-options', 'content-security-policy'])
    expect([name, head.headers.get(name)]).toEqual([name, saved.headers.get(name)]);
  expect((await put(url, 'other')).status).toBe(404);
  const none = await linkTo('in/none', 'GET');
  expect(await codeOf(await fetch(none.url))).toEqual([404, 'file_not_found']);
  expect((await showSession(cloud, id)).sandbox?.state).toBe('stopped');
});

test('only its own secret opens it, and it opens no other file', async () => {
  const { url } = await linkTo('in/ü x.txt', 'GET');
  expect(await codeOf(await fetch(url.replace(/key=.{8}/, 'key=00000000')))).toEqual([404, 'not_found']);
  expect((await fetch(url.replace(/\?.*/, ''))).status).toBe(404);
  const renamed = await fetch(url.replace(/links\/[^?]*/, 'links/etc%2Fpasswd'));
  expect(await renamed.text()).toBe('hello');
});

test('who may not write makes none, and no link leads out or lives too long', async () => {
  const reader = await newToken('admin:ro');
  const wish = { path: 'a', method: 'GET', expiresInSeconds: 60 };
  expect((await ask(reader.token, wish)).status).toBe(403);
  expect(await codeOf(await ask(maker.token, { ...wish, path: '../a' }))).toEqual([
    400,
    'path_outside_workspace',
  ]);
  expect((await ask(maker.token, { ...wish, path: 'folder/' })).status).toBe(400);
  expect((await ask(maker.token, { ...wish, method: 'DELETE' })).status).toBe(400);
  expect((await ask(maker.token, { ...wish, expiresInSeconds: 86_401 })).status).toBe(400);
  expect((await ask(maker.token, { ...wish, expiresInSeconds: 0 })).status).toBe(400);
});

test('a link dies with the token that made it', async () => {
  const { url } = await linkTo('in/ü x.txt', 'GET', 86_400);
  expect((await fetch(url)).status).toBe(200);
  await cloud.ask(`/api/tokens/${maker.id}`, { method: 'DELETE' });
  expect(await codeOf(await fetch(url))).toEqual([404, 'not_found']);
});
