/**
 * What a body claims to be, checked against what arrived.
 *
 * The MD5 is always computed: it is the ETag. Algorithms that Node.js does not have are refused instead of
 * being believed.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import { AwsError } from '../endpoint/aws-error.ts';

type Digest = { readonly add: (bytes: Buffer) => void; readonly end: () => string };

export type Checksums = {
  readonly add: (bytes: Buffer) => void;
  /** The hex MD5 and the header of each proven checksum; throws `BadDigest` if a claim is wrong. */
  readonly verify: (claims: Claims) => Verified;
};

/** Header or trailer name to value, such as `x-amz-checksum-crc32`. */
type Claims = ReadonlyMap<string, string>;

type Verified = { readonly md5: string; readonly headers: Readonly<Record<string, string>> };

const prefix = 'x-amz-checksum-';

const algorithms: Readonly<Record<string, () => Digest>> = {
  crc32: () => {
    let value = 0;
    return {
      add: (bytes) => {
        value = crc32(bytes, value);
      },
      end: () => {
        const result = Buffer.alloc(4);
        result.writeUInt32BE(value);
        return result.toString('base64');
      },
    };
  },
  sha1: () => hash('sha1'),
  sha256: () => hash('sha256'),
};

const hash = (name: string): Digest => {
  const state = createHash(name);
  return { add: (bytes) => void state.update(bytes), end: () => state.digest('base64') };
};

export const openChecksums = (headers: IncomingHttpHeaders): Checksums => {
  const md5 = createHash('md5');
  const digests = announced(headers).map((algorithm) => [algorithm, start(algorithm)] as const);
  return {
    add: (bytes) => {
      md5.update(bytes);
      for (const [, digest] of digests) digest.add(bytes);
    },
    verify: (trailers) => {
      const claims = new Map([...headerClaims(headers), ...trailers]);
      const value = md5.digest();
      expectEqual('Content-MD5', headers['content-md5']?.toString(), value.toString('base64'));
      const proven = digests.map(([algorithm, digest]) => {
        const computed = digest.end();
        expectEqual(algorithm.toUpperCase(), claims.get(prefix + algorithm), computed);
        return [prefix + algorithm, computed] as const;
      });
      return { md5: value.toString('hex'), headers: Object.fromEntries(proven) };
    },
  };
};

const headerClaims = (headers: IncomingHttpHeaders): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(prefix) ? [[name, String(value)]] : [],
  );

/** From headers, and from the names of trailers to come. */
const announced = (headers: IncomingHttpHeaders): string[] => {
  const trailers = String(headers['x-amz-trailer'] ?? '')
    .toLowerCase()
    .split(',');
  const names = [...Object.keys(headers), ...trailers.map((name) => name.trim())];
  const algorithms = names.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
  return [...new Set(algorithms)].filter((algorithm) => !['type', 'mode'].includes(algorithm));
};

const start = (algorithm: string): Digest => {
  const make = algorithms[algorithm];
  if (make === undefined) {
    throw new AwsError(501, 'NotImplemented', { message: `checksum ${algorithm} is not implemented here` });
  }
  return make();
};

const expectEqual = (name: string, claimed: string | undefined, computed: string): void => {
  if (claimed === undefined || claimed === computed) return;
  throw new AwsError(400, 'BadDigest', {
    message: `The ${name} you specified did not match the calculated checksum.`,
  });
};
