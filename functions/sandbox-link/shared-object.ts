/**
 * An entry of a shared volume as an S3 object: its key, and the metadata that says whether it is a file, a folder or a link.
 *
 * Metadata is ASCII and short; a path or a target that does not fit is left out, not shortened. An object without
 * this metadata is not an entry.
 */
import * as z from 'zod';
import type { Words } from '#shared/adapters/aws/shared-bucket.ts';
import { isPlainPath } from '#shared/domain/checkpoint.ts';

export type SharedEntry =
  | { readonly type: 'directory'; readonly mode: number }
  | { readonly type: 'symlink'; readonly target: string }
  | {
      readonly type: 'file';
      readonly mode: number;
      readonly mtimeMs: number;
      readonly sha256: string;
    };

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html */
const keyBytesMax = 1024;
/** With the other metadata it stays under 2 KB. */
const targetBytesMax = 1536;

const mode = z
  .string()
  .regex(/^[0-7]{1,3}$/)
  .transform((text) => Number.parseInt(text, 8));
const mtime = z
  .string()
  .regex(/^\d{1,15}(?:\.\d{1,6})?$/)
  .transform(Number);
const wordsSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('directory'), mode }),
  z.object({ type: z.literal('symlink'), target: z.string().min(1) }),
  z.object({ type: z.literal('file'), mode, mtime, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
]);

/** Undefined for a path that is too long, or no well-formed text. */
export const keyOf = (prefix: string, path: string): string | undefined => {
  if (!path.isWellFormed()) return undefined;
  const key = prefix + path.split('/').map(encodeURIComponent).join('/');
  return key.length > keyBytesMax ? undefined : key;
};

/** Undefined for a key that was not made of a path. */
export const pathOf = (prefix: string, key: string): string | undefined => {
  const encoded = key.slice(prefix.length);
  const path = decode(encoded);
  return path !== undefined && isPlainPath(path) && keyOf(prefix, path) === key ? path : undefined;
};

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** Undefined for a target that is too long, or no well-formed text. */
export const wordsOf = (entry: SharedEntry): Words | undefined => {
  switch (entry.type) {
    case 'directory':
      return { type: entry.type, mode: entry.mode.toString(8) };
    case 'symlink': {
      const target = entry.target.isWellFormed() ? encodeURIComponent(entry.target) : '';
      return target === '' || target.length > targetBytesMax ? undefined : { type: entry.type, target };
    }
    case 'file': {
      // Whole microseconds, never with an exponent.
      const time = entry.mtimeMs.toFixed(3);
      return { type: entry.type, mode: entry.mode.toString(8), mtime: time, sha256: entry.sha256 };
    }
  }
};

/** Undefined for metadata of other origin. */
export const entryOf = (words: Words): SharedEntry | undefined => {
  const parsed = wordsSchema.safeParse(words);
  if (!parsed.success) return undefined;
  const entry = parsed.data;
  if (entry.type === 'file')
    return { type: 'file', mode: entry.mode, mtimeMs: entry.mtime, sha256: entry.sha256 };
  if (entry.type === 'directory') return entry;
  const target = decode(entry.target);
  return target === undefined ? undefined : { type: 'symlink', target };
};
