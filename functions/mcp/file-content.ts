/**
 * A file as content for its reader: text, an image, or bytes; decided from the bytes, never from the name.
 *
 * Pure. Text is valid UTF-8 without NUL; anything else is base64 beside the result, an image as an image, the
 * rest as a resource.
 */
import type { ContentBlock } from '@modelcontextprotocol/server';

export type FileContent =
  | { readonly mimeType: 'text/plain'; readonly text: string }
  | { readonly mimeType: string; readonly block: ContentBlock };

/** The first bytes of the images that clients show. */
const pictures: readonly (readonly [mimeType: string, head: RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^474946383[79]61/],
  ['image/webp', /^52494646[0-9a-f]{8}57454250/],
];
const headBytes = 12;

export const fileContent = (bytes: Uint8Array, uri: string): FileContent => {
  const text = textOf(bytes);
  if (text !== undefined) return { mimeType: 'text/plain', text };
  const head = Buffer.from(bytes.subarray(0, headBytes)).toString('hex');
  const data = Buffer.from(bytes).toString('base64');
  const picture = pictures.find(([, wanted]) => wanted.test(head))?.[0];
  if (picture !== undefined) return { mimeType: picture, block: { type: 'image', data, mimeType: picture } };
  const mimeType = 'application/octet-stream';
  return { mimeType, block: { type: 'resource', resource: { uri, mimeType, blob: data } } };
};

const textOf = (bytes: Uint8Array): string | undefined => {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
};
