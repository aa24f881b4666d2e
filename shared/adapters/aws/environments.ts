/**
 * `Environments` in the table: AES-256-GCM under a key derived from the deployment's sandbox secret, bound to the session
 * (docs/adr/0023-environments-are-sealed-in-the-table.md).
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import type { Variables } from '#shared/domain/session-environment.ts';
import type { Environments } from '#shared/ports/environments.ts';
import { keys, type Table } from './dynamo/table.ts';

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

const keyOf = (secret: string, use: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `sallyport ${use}`, keyBytes));

export const makeEnvironments = ({ client, name }: Table, secret: string): Environments => {
  const sealKey = derivedOnce(secret, 'environment seal');
  const printKey = derivedOnce(secret, 'environment fingerprint');
  return {
    seal: (session, variables) => ({
      of: session,
      names: Object.keys(variables).toSorted(),
      fingerprint: createHmac('sha256', printKey()).update(canonical(variables)).digest('hex'),
      sealed: seal(sealKey(), session, canonical(variables)),
    }),
    read: async (session) => {
      const { Item } = await client.send(
        new GetCommand({ TableName: name, Key: keys.environment(session), ConsistentRead: true }),
      );
      return Item && open(sealKey(), session, String(Item['sealed']));
    },
  };
};

/** The key of a use, derived when it is first needed: most functions seal and open nothing. */
const derivedOnce = (secret: string, use: string): (() => Buffer) => {
  let key: Buffer | undefined;
  return () => {
    key ??= keyOf(secret, use);
    return key;
  };
};

const canonical = (variables: Variables): string =>
  JSON.stringify(Object.entries(variables).toSorted(([one], [other]) => (one < other ? -1 : 1)));

const seal = (key: Buffer, session: string, text: string): string => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(session));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
};

const entries = z.array(z.tuple([z.string(), z.string()]));

/** Undefined for what this key has not sealed for this session. */
const open = (key: Buffer, session: string, text: string): Variables | undefined => {
  const bytes = Buffer.from(text, 'base64');
  const nonce = bytes.subarray(0, nonceBytes);
  const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes);
  try {
    const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
      .setAAD(Buffer.from(session))
      .setAuthTag(tag);
    const opened = Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
    return Object.fromEntries(entries.parse(JSON.parse(opened.toString('utf8'))));
  } catch {
    return undefined;
  }
};
