import { expect, test } from 'vitest';
import type { ApiEvent } from './api-route.ts';
import { refuseAstray } from './preview-redirects.ts';

const session = crypto.randomUUID();
const own = `/api/sessions/${session}/ports/8000`;
const other = `/api/sessions/${crypto.randomUUID()}/ports/8000/`;

type Asked = {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly status?: number;
};

const answered = (
  location: string,
  { method = 'POST', headers = { 'sec-fetch-mode': 'cors' }, status = 307 }: Asked = {},
): Promise<void> => {
  const shown = { host: 'own.example', 'x-forwarded-proto': 'https', ...headers };
  const event = { httpMethod: method, path: `${own}/app/x`, headers: shown } as unknown as ApiEvent;
  return refuseAstray(new Response(null, { status, headers: { location } }), event);
};
const refused = { code: 'forbidden' };

test.each([
  other,
  `https://own.example${other}`,
  `https://OWN.example:443${other}`,
  `//own.example${other}`,
  `/\\own.example${other}`,
  `${own}/../../../..${other}`,
  `${own}/%2e%2e/8001/`,
  `../../8001/`,
  `${own}1/`,
  `/api/sessions/${session}/ports/8001/`,
  '/api/sessions',
  '/',
])('no request of a page is redirected to %s', async (location) => {
  await expect(answered(location)).rejects.toMatchObject(refused);
});

test.each([
  'y',
  '../y?next=/',
  own,
  `${own}/`,
  `${own.toUpperCase().replace('/API/SESSIONS', '/api/sessions').replace('PORTS', 'ports')}/y`,
  `https://own.example${own}/y`,
  'https://elsewhere.example/',
  `http://own.example${other}`,
  'http://[',
])('a request of a page may be redirected to %s', async (location) => {
  await answered(location);
});

test.each<[string, Asked]>([
  ['a navigation that reads', { method: 'GET', headers: { 'sec-fetch-mode': 'navigate' } }],
  ['a form whose answer is read', { status: 303, headers: { 'sec-fetch-mode': 'navigate' } }],
  ['a client with a bearer', { headers: { authorization: `Bearer sp_${'1'.repeat(64)}` } }],
  ['no redirect', { status: 201 }],
])('%s passes', async (_, asked) => {
  await answered(other, asked);
});

test.each<[string, Asked]>([
  ['a form that is sent again', { headers: { 'sec-fetch-mode': 'navigate' } }],
  ['a request of a browser that does not say its mode', { method: 'GET', headers: {} }],
])('%s does not', async (_, asked) => {
  await expect(answered(other, asked)).rejects.toMatchObject(refused);
});
