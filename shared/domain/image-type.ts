/** The kind of an image by its first bytes, whatever its name says: one of those that models take. */

/** The kinds of images that every provider takes. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export type ImageType = (typeof imageTypes)[number];

/** The beginnings of the base64 of each kind. */
const kinds: readonly (readonly [ImageType, RegExp])[] = [
  ['image/png', /^iVBORw0KGgo/],
  ['image/jpeg', /^\/9j\//],
  ['image/gif', /^R0lGOD/],
  ['image/webp', /^UklGR.{6}XRUJQ/],
];

/** Of the beginning in base64. */
export const imageTypeOf = (base64: string): ImageType | undefined =>
  kinds.find(([, head]) => head.test(base64))?.[0];

/** In hexadecimal, with a dot for each digit that may be any. */
const signatures: readonly (readonly [ImageType, RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^47494638/],
  ['image/webp', /^52494646.{8}57454250/],
];

/** Of the first bytes. */
export const imageTypeOfBytes = (bytes: Uint8Array): ImageType | undefined => {
  const head = [...bytes.subarray(0, 12)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return signatures.find(([, signature]) => signature.test(head))?.[0];
};
