import { expect, test } from 'vitest';
import { findDeployment, readUrl } from './deployment.ts';
import type { Host } from './host.ts';

test.each([
  ['localhost:4350', 'http://localhost:4350'],
  ['sallyport.example.com:8443/x', 'http://sallyport.example.com:8443'],
  ['127.0.0.1:4350', 'http://127.0.0.1:4350'],
  ['https://sallyport.example.com/app', 'https://sallyport.example.com'],
])('%s is %s', (text, url) => {
  expect(readUrl(text)).toEqual({ url });
});

test.each(['ftp://x.example', 'http://a:b@x.example', 'not a url', ''])('%j is refused', (text) => {
  expect(() => readUrl(text)).toThrow('is not an http or https URL');
});

test('a token of the environment that is no value of a header is refused, and not shown', async () => {
  const at = (SALLYPORT_TOKEN: string) =>
    findDeployment({ variables: { SALLYPORT_URL: 'http://x.example', SALLYPORT_TOKEN } } as unknown as Host);
  expect(await at('sp_1\n')).toMatchObject({ token: 'sp_1', source: 'environment' });
  for (const text of ['sp_sec\nret', 'sp_secret\u2026']) {
    const error = await at(text).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ exitCode: 2, body: { error: { code: 'invalid_usage' } } });
    expect(String(error)).not.toContain('sec');
  }
});
