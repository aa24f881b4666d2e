/** A refusal at the path of a preview: a page for a browser that navigates, the error body for everything else. */
import { createHash } from 'node:crypto';
import type { Context } from 'aws-lambda';
import { expect, test } from 'vitest';
import { AppError, errorBody } from '#shared/errors.ts';
import { type ApiEvent, json } from './api-route.ts';
import { refusedPreview } from './preview-refusal.ts';
import { answerWith, type Doors } from './route-request.ts';

const path = '/api/sessions/0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d/ports/8000/a/';

const refused = (error: AppError, { headers = {}, ...change }: Partial<ApiEvent> = {}) => {
  const event = {
    ...{ httpMethod: 'GET', path, multiValueQueryStringParameters: null, ...change },
    headers: { 'Sec-Fetch-Mode': 'navigate', ...headers },
  } as unknown as ApiEvent;
  const body = errorBody(error, 'r-1');
  const answer = refusedPreview(event, json(503, body), body.error);
  return { ...answer, body: String(answer.body), type: answer.headers['content-type'] };
};

const unheard = new AppError('sandbox_unavailable', 'nothing listens on port 8000', {
  suggestions: ['Start a server on this port.'],
});

test('a tab shows the sentences of the error, its code, its request, and a way to load the preview again', () => {
  const { statusCode, type, body } = refused(unheard);
  expect([statusCode, type]).toEqual([503, 'text/html; charset=utf-8']);
  for (const part of ['<p>nothing listens on port 8000</p>', '<li>Start a server on this port.</li>'])
    expect(body).toContain(part);
  expect(body).toContain('<code>sandbox_unavailable</code> · request <code>r-1</code>');
  expect(body).toContain(`<a href="${path}">Reload</a>`);
});

test('the page loads and runs nothing: its policy names its own style alone', () => {
  const { headers, body } = refused(unheard);
  const [, style = ''] = /<style>(.*)<\/style>/s.exec(body) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  expect(headers['content-security-policy']).toBe(
    `sandbox; default-src 'none'; frame-ancestors 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`,
  );
  expect(headers).toMatchObject({
    ...{ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
  });
  expect(body).not.toMatch(/<script|\ssrc=|\sstyle=|\son\w+=/);
});

test('no text of the error, of the path or of the query is markup', () => {
  const hostile = `"'><img src=x onerror=alert(1)>&`;
  const error = new AppError('forbidden', hostile, { suggestions: [hostile] });
  const { body } = refused(error, {
    path: path + hostile,
    multiValueQueryStringParameters: { [hostile]: [hostile] },
    headers: { 'x-forwarded-query': `?${hostile}` },
  });
  expect(body).not.toContain('<img');
  expect(body.match(/<a href="[^"]*">Reload<\/a>/)).not.toBeNull();
  expect(body).toContain('&#34;&#39;&#62;&#60;img src=x onerror=alert(1)&#62;&#38;');
});

test('the link keeps the query, but for the ticket, which is for one use', () => {
  const asked = { headers: { 'x-forwarded-query': '?a=+&ticket=secret&b' } };
  const { body } = refused(unheard, asked);
  expect(body).toContain(`<a href="${path}?a=+&#38;b">Reload</a>`);
  expect(body).not.toContain('secret');
});

test('a person without a credential is led to the app, and not to a header', () => {
  const { body } = refused(new AppError('unauthenticated', 'a valid token is required'));
  expect(body).toContain('<li>Open it again in the app: in its session, the tab Preview.</li>');
  expect(body).not.toContain('Bearer');
});

test('what a form sent is not lost by a link', () => {
  expect(refused(unheard, { httpMethod: 'POST' }).body).not.toContain('Reload');
});

const awaited = new AppError('sandbox_unavailable', 'nothing listens on port 8000', {
  facts: { port: 8000 },
});
const root = path.slice(0, -2);

test('where only the server is missing, the browser loads the page again by itself, forty times, and runs nothing', () => {
  const { headers, body } = refused(awaited);
  expect(headers['content-security-policy']).toMatch(
    /^sandbox allow-scripts; default-src 'none'; frame-ancestors 'none'; style-src \S+; base-uri 'none'; form-action 'none'$/,
  );
  expect(body).toContain('<meta http-equiv="refresh" content="3">');
  expect(body).not.toContain('<script');
  expect(headers['set-cookie']).toBe(
    `sallyport-preview-tries=1; Path=${root}; Max-Age=30; HttpOnly; SameSite=Lax`,
  );
  const after = (tries: number) =>
    refused(awaited, { headers: { cookie: `sallyport-preview-tries=${tries}` } });
  expect(after(39).headers['set-cookie']).toMatch(/^sallyport-preview-tries=40;/);
  expect(after(40).body).not.toContain('refresh');
});

test('a page waits for a sandbox that starts, too', () => {
  expect(refused(new AppError('sandbox_starting', 'the sandbox is still starting')).body).toContain(
    'refresh',
  );
});

test.each([
  ['a form was sent', awaited, { httpMethod: 'POST' }],
  ['the path names no session', awaited, { path: '/api/sessions/x; Domain=example.org/ports/8000/' }],
  ['the sandbox is missing', unheard, {}],
])('the page is not loaded again by itself where %s', (_where, error, change) => {
  const { headers, body } = refused(error, change);
  expect(body).not.toContain('refresh');
  expect([headers['content-security-policy'], headers['set-cookie']]).toEqual([
    expect.stringMatching(/^sandbox; default-src 'none'; /),
    undefined,
  ]);
});

test.each([
  ['text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', 'text/html; charset=utf-8'],
  ['*/*', 'application/json'],
])('a browser that does not say its mode gets what it accepts: %s', (accept, type) => {
  expect(refused(unheard, { headers: { 'Sec-Fetch-Mode': undefined, accept } }).type).toBe(type);
});

test.each([undefined, 'cors', 'no-cors'])('a request of mode %s gets the error body', (mode) => {
  const { type, body, headers } = refused(unheard, { headers: { 'Sec-Fetch-Mode': mode } });
  expect(type).toBe('application/json');
  expect(JSON.parse(body)).toEqual(errorBody(unheard, 'r-1'));
  expect(headers['content-security-policy']).toBe("sandbox; default-src 'none'; frame-ancestors 'none'");
});

test.each([
  ['a preview', path, 'text/html; charset=utf-8'],
  ['another path', '/api/sessions', 'application/json'],
])('a navigation to %s at %s is refused as %s', async (_title, asked, type) => {
  const event = {
    ...{ httpMethod: 'GET', path: asked, requestContext: { requestId: 'r-1' } },
    headers: { 'sec-fetch-mode': 'navigate' },
    ...{ queryStringParameters: null, multiValueQueryStringParameters: null },
  } as unknown as ApiEvent;
  const telemetry = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const ports = { telemetry } as unknown as Parameters<typeof answerWith>[0];
  const doors = { routes: [], preview: { ports }, auth: { publicUrl: undefined } } as unknown as Doors;
  const { statusCode, headers } = await answerWith(ports, { event, context: {} as Context }, doors);
  expect([statusCode, headers['content-type'], headers['x-request-id'], headers['www-authenticate']]).toEqual(
    [401, type, 'r-1', 'Bearer'],
  );
});
