import { describe, expect, test } from 'vitest';
import { isLocalPath, isOwnRequest } from './browser-request.ts';

const own = ['https://app.example.com', 'http://127.0.0.1:4350'];
const asks = (kind: 'read' | 'write' | 'upgrade', origin?: string, fetchSite?: string): boolean =>
  isOwnRequest({ kind, origin, fetchSite, own });

describe('a request with a cookie', () => {
  test.each(['write', 'upgrade'] as const)('that is a %s names one of our origins exactly', (kind) => {
    expect(own.map((origin) => asks(kind, origin))).toEqual([true, true]);
    expect(asks(kind)).toBe(false);
    expect(asks(kind, undefined, 'same-origin')).toBe(false);
    for (const origin of [
      'null',
      'https://evil.example.com',
      'http://app.example.com',
      'https://app.example.com:8443',
      'http://127.0.0.1:4351',
      'https://app.example.com.evil.example',
      '',
    ])
      expect(asks(kind, origin)).toBe(false);
  });

  test('that reads may name no origin, and no other page causes it', () => {
    expect([asks('read'), asks('read', undefined, 'same-origin'), asks('read', undefined, 'none')]).toEqual([
      true,
      true,
      true,
    ]);
    expect(asks('read', own[0])).toBe(true);
    for (const site of ['cross-site', 'same-site', 'anything'])
      expect(asks('read', undefined, site)).toBe(false);
    expect(asks('read', 'http://127.0.0.1:9999', 'same-site')).toBe(false);
  });
});

test.each(['/', '/#/sessions/1', '/?a=b#/x', '/a//b'])('%s is a path of this origin', (path) => {
  expect(isLocalPath(path)).toBe(true);
});

test.each([
  '',
  'chat',
  '//evil.example.com',
  '/\\evil.example.com',
  '/a\\b',
  '/\t/evil.example.com',
  'https://evil.example.com/',
  'javascript:alert(1)',
  '/ä',
  '/a b',
  `/${'a'.repeat(512)}`,
])('%s is not a path of this origin', (path) => {
  expect(isLocalPath(path)).toBe(false);
});
