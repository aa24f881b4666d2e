import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useCredentials } from '../../api/request.ts';
import { statusOfPage } from './preview-check.ts';

beforeEach(() => void vi.stubGlobal('location', { origin: 'http://x.example' }));
afterEach(() => {
  vi.unstubAllGlobals();
  useCredentials({ token: () => null, onRefused: () => {} });
});

const ofPage = 'sandbox allow-scripts allow-forms; default-src http://x.example/p/';
const ofPlatform = "sandbox; default-src 'none'; frame-ancestors 'none'";

const answers = (status: number, policy: string) => {
  const asked: string[] = [];
  let isDropped = false;
  const body = new ReadableStream({
    start: (pages) => pages.enqueue(new TextEncoder().encode('endless')),
    cancel: () => {
      isDropped = true;
    },
  });
  vi.stubGlobal('fetch', async (url: string, { method = 'GET', headers }: RequestInit) => {
    asked.push(`${method} ${url} ${(headers as Record<string, string>)['authorization']}`);
    return new Response(body, { status, headers: { 'content-security-policy': policy } });
  });
  return { asked, isDropped: () => isDropped };
};

test.each([200, 404, 500, 502])(
  'a page that answers HTTP %i responds, and its body is dropped',
  async (status) => {
    const { asked, isDropped } = answers(status, ofPage);
    useCredentials({ token: () => 'sp_x', onRefused: () => {} });
    expect(await statusOfPage('/p/')).toBe(status);
    expect(asked).toEqual(['GET http://x.example/p/ Bearer sp_x']);
    expect(isDropped()).toBe(true);
  },
);

const refuses = (status: number, error: object) =>
  vi.stubGlobal('fetch', async () =>
    Response.json({ error }, { status, headers: { 'content-security-policy': ofPlatform } }),
  );

test('no response of the page is one refusal alone: that of the platform which names the port', async () => {
  refuses(503, { code: 'sandbox_unavailable', message: 'nothing listens on port 8000', port: 8000 });
  expect(await statusOfPage('/p/')).toBeUndefined();
});

test.each([
  [401, 'unauthenticated'],
  [429, 'rate_limited'],
  [503, 'sandbox_starting'],
  [503, 'sandbox_unavailable'],
])(
  'a refusal of the platform, HTTP %i %s, says nothing about the server: it is told',
  async (status, code) => {
    refuses(status, { code, message: 'no', suggestions: ['Wait.'] });
    await expect(statusOfPage('/p/')).rejects.toMatchObject({ status, code, suggestions: ['Wait.'] });
  },
);

test('an answer of something before the server is told', async () => {
  vi.stubGlobal('fetch', async () => new Response('<html>', { status: 502 }));
  await expect(statusOfPage('/p/')).rejects.toMatchObject({ code: 'unexpected_answer', status: 502 });
});

test('a page that asks for a password of its own signs nobody out', async () => {
  answers(401, ofPage);
  const refused = vi.fn();
  useCredentials({ token: () => 'sp_x', onRefused: refused });
  expect(await statusOfPage('/p/')).toBe(401);
  expect(refused).not.toHaveBeenCalled();
});

test('a lost network says nothing about the server: it is told', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('failed')));
  await expect(statusOfPage('/p/')).rejects.toMatchObject({
    ...{ code: 'unreachable', message: 'The server does not answer.' },
  });
});

test.each([
  ['breaks off', new TypeError('terminated')],
  ['is not whole in time', new DOMException('signal timed out', 'TimeoutError')],
])('a refusal that %s says nothing about the server: it is told', async (_, cause) => {
  const body = new ReadableStream({ start: (parts) => parts.error(cause) });
  vi.stubGlobal('fetch', async () => new Response(body, { status: 503 }));
  await expect(statusOfPage('/p/')).rejects.toMatchObject({
    ...{ code: 'unreachable', message: 'The server does not answer.' },
  });
});
