/**
 * Certificates of X.509 (RFC 5280) for one authority and the hosts it speaks for: P-256 keys, ECDSA with SHA-256.
 *
 * The authority signs for servers alone and no further authority. A certificate names one host, as a name or as an address.
 */
import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { parseAddress } from '#shared/domain/ip-address.ts';
import { bits, objectId, octets, sequence, set, tagged, text, time, unsigned, yes } from './der.ts';

type Subject = {
  readonly commonName: string;
  readonly publicKey: KeyObject;
};

export type Issuer = Subject & { readonly privateKey: KeyObject };

/** In epoch milliseconds. */
type Validity = { readonly from: number; readonly until: number };

const ecdsaSha256 = sequence(objectId('1.2.840.10045.4.3.2'));
const serialBytes = 16;
const hashBytes = 20;

/** Signed by itself. */
export const authorityCertificate = (issuer: Issuer, validity: Validity): string =>
  certificate({ issuer, subject: issuer, validity }, [
    extension('2.5.29.19', true, sequence(yes, unsigned(Buffer.from([0])))),
    // keyCertSign
    extension('2.5.29.15', true, bits(Buffer.from([0x04]), 2)),
  ]);

/** For one host, as a client compares it: a name, or an address without brackets. */
export const hostCertificate = (
  issuer: Issuer,
  { host, publicKey }: { readonly host: string; readonly publicKey: KeyObject },
  validity: Validity,
): string =>
  certificate({ issuer, subject: { commonName: 'A host of a sandbox', publicKey }, validity }, [
    extension('2.5.29.19', true, sequence()),
    // digitalSignature
    extension('2.5.29.15', true, bits(Buffer.from([0x80]), 7)),
    // serverAuth
    extension('2.5.29.37', false, sequence(objectId('1.3.6.1.5.5.7.3.1'))),
    extension('2.5.29.17', false, sequence(alternativeName(host))),
  ]);

type Signed = { readonly issuer: Issuer; readonly subject: Subject; readonly validity: Validity };

const certificate = (
  { issuer, subject, validity: { from, until } }: Signed,
  extensions: readonly Buffer[],
): string => {
  const keyIds = [
    extension('2.5.29.14', false, octets(keyId(subject.publicKey))),
    extension('2.5.29.35', false, sequence(tagged(0x80, keyId(issuer.publicKey)))),
  ];
  const signed = sequence(
    // Version 3.
    tagged(0xa0, unsigned(Buffer.from([2]))),
    unsigned(randomBytes(serialBytes)),
    ecdsaSha256,
    named(issuer),
    sequence(time(from), time(until)),
    named(subject),
    keyInfo(subject.publicKey),
    tagged(0xa3, sequence(...extensions, ...keyIds)),
  );
  return pem(sequence(signed, ecdsaSha256, bits(sign('sha256', signed, issuer.privateKey))));
};

const named = ({ commonName }: Subject): Buffer =>
  sequence(set(sequence(objectId('2.5.4.3'), text(commonName))));

const keyInfo = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

const keyId = (key: KeyObject): Buffer =>
  createHash('sha256').update(keyInfo(key)).digest().subarray(0, hashBytes);

const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(objectId(id), ...(isCritical ? [yes] : []), octets(value));

const alternativeName = (host: string): Buffer =>
  isIP(host) === 0 ? tagged(0x82, Buffer.from(host, 'ascii')) : tagged(0x87, addressBytes(host));

const addressBytes = (host: string): Buffer => Buffer.from(parseAddress(host) ?? []);

const lineCharacters = 64;

const pem = (der: Buffer): string => {
  const lines = der.toString('base64').match(new RegExp(`.{1,${lineCharacters}}`, 'g')) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
};
