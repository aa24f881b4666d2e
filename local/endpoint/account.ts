/**
 * The AWS account of the embedded cloud: its region, its number and the access keys of one start.
 *
 * Each caller has its own key, so a signature identifies the caller. A secret is derived from the caller's name and a
 * value that never leaves this process, so the keys of an earlier start are refused.
 */
import { createHmac, randomBytes } from 'node:crypto';

export const region = 'us-east-1';
export const accountId = '000000000000';

export type Credentials = { readonly accessKeyId: string; readonly secretAccessKey: string };

export type Keys = {
  /** The key pair of one caller; the same each time. */
  readonly issue: (caller: string) => Credentials;
  /** The caller and the secret of an access key id of this start; undefined for any other. */
  readonly find: (accessKeyId: string) => KnownKey | undefined;
};

type KnownKey = { readonly caller: string; readonly secretAccessKey: string };

const idBytes = 10;
const secretBytes = 32;
/** Callers are the functions and the program's own clients. */
const callersMax = 1000;
const separator = '-';

export const makeKeys = (): Keys => {
  const start = randomBytes(idBytes).toString('hex').toUpperCase();
  const seed = randomBytes(secretBytes);
  const known = new Map<string, KnownKey>();
  return {
    issue: (caller) => {
      const accessKeyId = `${start}${separator}${caller}`;
      const secretAccessKey = createHmac('sha256', seed).update(caller).digest('base64url');
      if (!known.has(accessKeyId) && known.size >= callersMax)
        throw new Error(`more than ${callersMax} callers`);
      known.set(accessKeyId, { caller, secretAccessKey });
      return { accessKeyId, secretAccessKey };
    },
    find: (accessKeyId) => known.get(accessKeyId),
  };
};
