/**
 * The certificate authority of one sandbox: its key is derived from the deployment's sandbox secret and the sandbox's generation, so
 * that it is stored nowhere, every holder of the relay has the same one, and the next sandbox has another
 * (docs/adr/0034-secrets-are-put-in-outside.md). Only the certificate is given to the sandbox.
 */
import { createECDH, createPrivateKey, createPublicKey, generateKeyPairSync, hkdfSync } from 'node:crypto';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { SandboxAuthority } from '#shared/ports/egress.ts';
import { authorityCertificate, hostCertificate, type Issuer } from './certificate.ts';

/** A server speaks TLS for a host with these. */
export type HostCredentials = { readonly key: string; readonly cert: string };

const curve = 'prime256v1';
/** The order of P-256 (SEC 2, 2.4.2). */
const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
/** So much longer than the key that no value of it is more likely (FIPS 186-5, A.2.1). */
const seedBytes = 48;
const keyBytes = 32;
const dayMs = 86_400_000;
/** Longer than any sandbox lives, since the certificate is given once. */
const authorityDays = 90;

export const makeSandboxAuthority = (secret: string, now: () => number): SandboxAuthority => ({
  certificate: (workspaceId, generation) =>
    authorityCertificate(issuerOf(secret, { workspaceId, generation }), validityOf(now(), authorityDays)),
});

type Sandbox = { readonly workspaceId: WorkspaceId; readonly generation: number };

/** Certificates of the hosts of one sandbox, each made once. All have one key, which lives as long as this does. */
export const openHostCertificates = (
  secret: string,
  sandbox: Sandbox,
  now: () => number,
): ((host: string) => HostCredentials) => {
  const issuer = issuerOf(secret, sandbox);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: curve });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const made = new Map<string, HostCredentials>();
  return (host) => {
    const known = made.get(host);
    if (known !== undefined) return known;
    const cert = hostCertificate(issuer, { host, publicKey }, validityOf(now(), 1));
    const credentials = { key, cert };
    made.set(host, credentials);
    return credentials;
  };
};

const issuerOf = (secret: string, { workspaceId, generation }: Sandbox): Issuer => {
  const seed = hkdfSync('sha256', secret, '', `sallyport authority ${workspaceId}:${generation}`, seedBytes);
  const scalar = (BigInt(`0x${Buffer.from(seed).toString('hex')}`) % (order - 1n)) + 1n;
  const d = Buffer.from(scalar.toString(16).padStart(keyBytes * 2, '0'), 'hex');
  const pair = createECDH(curve);
  pair.setPrivateKey(d);
  const point = pair.getPublicKey();
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    d: d.toString('base64url'),
    x: point.subarray(1, 1 + keyBytes).toString('base64url'),
    y: point.subarray(1 + keyBytes).toString('base64url'),
  };
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
  return {
    commonName: `Sallyport sandbox ${workspaceId}:${generation}`,
    privateKey,
    publicKey: createPublicKey(privateKey),
  };
};

/** From a day before: the clock of a sandbox may be late. */
const validityOf = (now: number, days: number) => ({ from: now - dayMs, until: now + days * dayMs });
