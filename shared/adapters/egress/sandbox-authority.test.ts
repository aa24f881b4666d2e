import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { makeSandboxAuthority, openHostCertificates } from './sandbox-authority.ts';

const workspaceId = 'w' as WorkspaceId;
const now = () => Date.parse('2031-02-03T04:05:06Z');
const authorityOf = (secret: string, generation = 1) =>
  new X509Certificate(makeSandboxAuthority(secret, now).certificate(workspaceId, generation));
const hostOf = (host: string) =>
  new X509Certificate(openHostCertificates('secret', { workspaceId, generation: 1 }, now)(host).cert);

test('every function derives the same key, and each sandbox has its own', () => {
  const key = (certificate: X509Certificate) => certificate.publicKey.export({ type: 'spki', format: 'pem' });
  expect(key(authorityOf('secret'))).toBe(key(authorityOf('secret')));
  expect(new Set([authorityOf('secret'), authorityOf('secret', 2), authorityOf('other')].map(key)).size).toBe(
    3,
  );
});

test('the authority signs itself, for servers alone', () => {
  const authority = authorityOf('secret');
  expect(authority.ca).toBe(true);
  expect(authority.verify(authority.publicKey)).toBe(true);
  expect(new Date(authority.validFrom) < new Date(now())).toBe(true);
});

test('a certificate names its host alone, and the authority vouches for it', () => {
  const authority = authorityOf('secret');
  const named = hostOf('api.example.org');
  expect(named.checkIssued(authority) && named.verify(authority.publicKey)).toBe(true);
  expect([named.ca, named.subjectAltName, named.keyUsage]).toEqual([
    false,
    'DNS:api.example.org',
    ['1.3.6.1.5.5.7.3.1'],
  ]);
  expect(named.checkHost('other.example.org')).toBeUndefined();
  expect(hostOf('192.0.2.7').checkIP('192.0.2.7')).toBe('192.0.2.7');
  expect(hostOf('2001:db8::1').checkIP('2001:db8::1')).toBe('2001:db8::1');
  expect(named.verify(authorityOf('secret', 2).publicKey)).toBe(false);
});
