/**
 * Signatures of Standard Webhooks, version `v1`: HMAC-SHA256 over `id.timestamp.body`
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { SecretMaker, SignedRequest } from '#shared/ports/webhooks.ts';

const prefix = 'whsec_';
const secretBytes = 32;

export const secretMaker: SecretMaker = {
  newSecret: () => `${prefix}${randomBytes(secretBytes).toString('base64')}`,
};

/** The three headers of an attempt. */
export const signatureHeaders = ({ secret, id, at, body }: SignedRequest): Record<string, string> => {
  const timestamp = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.slice(prefix.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
};
