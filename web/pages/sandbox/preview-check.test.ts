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

test.each([404, 502, 503])(
  'a refusal of the platform, HTTP %i, is no response of the page',
  async (status) => {
    answers(status, ofPlatform);
    expect(await statusOfPage('/p/')).toBeUndefined();
  },
);

test('a page that asks for a password of its own signs nobody out', async () => {
  answers(401, ofPage);
  const refused = vi.fn();
  useCredentials({ token: () => 'sp_x', onRefused: refused });
  expect(await statusOfPage('/p/')).toBe(401);
  expect(refused).not.toHaveBeenCalled();
});

test('a server that cannot be reached is no response', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('failed')));
  expect(await statusOfPage('/p/')).toBeUndefined();
});
