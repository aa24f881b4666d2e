import { expect, test } from 'vitest';
import { readUrl } from './deployment.ts';

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
