/** The policy of a preview: one source, and none where the address is no address; and the headers that its page receives. */
import { describe, expect, test } from 'vitest';
import type { ApiEvent } from './api-route.ts';
import { fenced, forwarded } from './preview-headers.ts';

const path = '/api/sessions/1/ports/8000/';
const policy = (headers: Record<string, string>): Readonly<Record<string, readonly string[]>> => {
  const answer = fenced(new Response(''), { headers } as unknown as ApiEvent, path);
  const directives = (answer['content-security-policy'] ?? '').split('; ').map((one) => one.split(' '));
  return Object.fromEntries(directives.map(([name = '', ...values]) => [name, values]));
};

const own = (origin: string) => `${origin}${path}`;

test('every directive that names an address names the path of the preview', () => {
  const directives = policy({ Host: '127.0.0.1:4350' });
  const here = own('http://127.0.0.1:4350');
  expect(directives).toEqual({
    sandbox: expect.not.arrayContaining(['allow-same-origin']),
    'default-src': [here, 'data:', 'blob:', "'unsafe-inline'", "'unsafe-eval'"],
    'connect-src': [here, here.replace('http', 'ws'), 'data:', 'blob:'],
    'frame-src': [here, 'data:', 'blob:'],
    'worker-src': [here, 'data:', 'blob:'],
    'object-src': ["'none'"],
    'form-action': [here],
    'base-uri': [here],
    'frame-ancestors': ["'none'"],
  });
});

test.each([
  [{ host: 'localhost:4350' }, 'http://localhost:4350'],
  [{ host: '[::1]:4350' }, 'http://[::1]:4350'],
  [
    { host: 'x.execute-api.example', 'X-Forwarded-Host': 'a.example', 'x-forwarded-proto': 'https' },
    'https://a.example',
  ],
])('the origin of %o is %s', (headers, origin) => {
  expect(policy(headers)['form-action']).toEqual([own(origin)]);
});

test.each([
  '',
  '*',
  '*.example',
  'a.example; script-src *',
  'a.example b.example',
  'a.example, b.example',
  'a.example/x',
  'user@a.example',
  'a.example:',
  'a.example:123456',
  "'self'",
])('an address such as %j is invalid, and nothing may be loaded', (host) => {
  const directives = policy({ host });
  for (const name of ['default-src', 'connect-src', 'frame-src', 'worker-src', 'form-action', 'base-uri'])
    expect(directives[name]).toEqual(["'none'"]);
});

test.each([
  ['alt-svc', 'h3="a.example:443"'],
  ['www-authenticate', 'Basic realm="Sallyport"'],
  ['proxy-authenticate', 'Basic'],
  ['set-login', 'logged-out'],
  ['accept-ch', 'sec-ch-ua-full-version-list'],
  ['critical-ch', 'sec-ch-ua-full-version-list'],
  ['use-as-dictionary', 'match="/*"'],
  ['secure-session-registration', '(ES256);path="register";challenge="c"'],
  ['sec-session-registration', '(ES256);path="register";challenge="c"'],
  ['secure-session-challenge', '"c";id="1"'],
  ['shared-storage-write', 'set;key="k";value="v"'],
  ['attribution-reporting-register-source', '{}'],
  ['observe-browsing-topics', '?1'],
  ['activate-storage-access', 'load'],
  ['x-amzn-requestid', 'another'],
  ['x-sallyport-refusal', 'true'],
  ['x-sallyport-tunnel-address', '127.0.0.1:1'],
])('the header %s, which would count for the whole origin or as one of ours, is dropped', (name, value) => {
  const said = new Response('', { headers: { [name]: value } });
  expect(fenced(said, { headers: { host: 'a.example' } } as unknown as ApiEvent, path)).not.toHaveProperty([
    name,
  ]);
});

test('the page’s own headers about isolation are dropped, the others are kept', () => {
  const said = new Response('', {
    headers: {
      'content-security-policy': 'default-src *',
      'content-security-policy-report-only': 'report-uri http://a.example',
      'reporting-endpoints': 'a="http://a.example"',
      refresh: '0; url=http://a.example',
      'speculation-rules': '"http://a.example/rules.json"',
      'access-control-allow-origin': '*',
      'x-own': 'kept',
    },
  });
  const answer = fenced(said, { headers: { host: 'a.example' } } as unknown as ApiEvent, path);
  expect(answer['content-security-policy']).toMatch(/^sandbox /);
  expect(Object.keys(answer).filter((name) => /report|refresh|speculation/.test(name))).toEqual([]);
  expect([answer['access-control-allow-origin'], answer['x-own']]).toEqual(['null', 'kept']);
});

describe('a page receives', () => {
  const received = (apiKey: string | null) =>
    forwarded({
      headers: { 'X-Api-Key': 'a key', Authorization: 'Bearer a', 'X-Amz-Cf-Id': 'a', 'X-Own': 'kept' },
      requestContext: { identity: { apiKey } },
    } as unknown as ApiEvent);

  test('the headers of its client, and none of a proxy or with a credential of ours', () => {
    expect(received(null)).toEqual({ 'x-api-key': 'a key', 'x-own': 'kept' });
  });

  test('no key by which API Gateway recognises CloudFront', () => {
    expect(received('a key')).toEqual({ 'x-own': 'kept' });
  });
});
