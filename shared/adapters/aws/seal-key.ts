/**
 * `SealKey` of KMS, or of a file on one machine: ECDSA on P-256 over SHA-256. A deployment that names no key signs nothing,
 * and its seals say so.
 */
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { sealAlgorithm } from '#shared/domain/audit-seal.ts';
import type { SealKey } from '#shared/ports/audit-seals.ts';

/** The ARN of a KMS key, or the path of a private key in PEM. */
export const openSealKey = (named: string | undefined): SealKey => {
  if (named === undefined) return { publicKey: async () => undefined, sign: async () => undefined };
  return named.startsWith('arn:') ? kmsSealKey(new KMSClient({}), named) : fileKey(named);
};

export const kmsSealKey = (client: KMSClient, KeyId: string): SealKey => ({
  publicKey: async () => {
    const { PublicKey = new Uint8Array() } = await client.send(new GetPublicKeyCommand({ KeyId }));
    const key = createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' });
    return { keyId: KeyId, algorithm: sealAlgorithm, publicKey: pemOf(key) };
  },
  sign: async (text) => {
    const Message = createHash('sha256').update(text).digest();
    const request = { KeyId, Message, MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' } as const;
    const { Signature = new Uint8Array() } = await client.send(new SignCommand(request));
    return { keyId: KeyId, algorithm: sealAlgorithm, signature: Buffer.from(Signature).toString('base64') };
  },
});

const fileKey = (path: string): SealKey => {
  const load = async () => {
    const key = createPrivateKey(await readFile(path, 'utf8'));
    const publicKey = pemOf(createPublicKey(key));
    const keyId = createHash('sha256').update(publicKey).digest('hex').slice(0, 16);
    return { key, publicKey, keyId, algorithm: sealAlgorithm } as const;
  };
  return {
    publicKey: async () => {
      const { key: _, ...shown } = await load();
      return shown;
    },
    sign: async (text) => {
      const { key, keyId, algorithm } = await load();
      return { keyId, algorithm, signature: sign('sha256', Buffer.from(text), key).toString('base64') };
    },
  };
};

const pemOf = (key: ReturnType<typeof createPublicKey>): string =>
  key.export({ type: 'spki', format: 'pem' }).toString();
