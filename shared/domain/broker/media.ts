/**
 * Inline media of a request: images, which a provider counts by their pixels, and whatever else it would count by pages or seconds.
 *
 * The bytes of these say nothing about their tokens. An image has a bound of its own; no other kind has one that a small budget
 * could reserve, so it is refused.
 */

import { type Fields, objectOf } from './provider.ts';
import { isOwnContent } from './refused-requests.ts';

/** Each holds bytes beside their type. */
const byteFields = new Set(['source', 'inlineData', 'inline_data']);
/** No type beside them says that they are an image. */
const otherFields = new Set(['file_data', 'input_audio']);

/** The images of a request. */
export const imagesIn = (body: Fields): number => mediaIn(body).filter((type) => isImage(type)).length;

/** The type of the first that is neither text nor an image. */
export const foreignMedia = (body: Fields): string | undefined =>
  mediaIn(body).find((type) => !isImage(type) && !type.startsWith('text/'));

const isImage = (type: string): boolean => type.startsWith('image/');

/** Their types, in the order of the request. */
const mediaIn = (value: unknown): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(mediaIn);
  return Object.entries(objectOf(value) ?? {}).flatMap(([name, held]) => [
    ...typeOf(name, held),
    ...(isOwnContent(name, held) ? [] : mediaIn(held)),
  ]);
};

const typeOf = (name: string, held: unknown): readonly string[] => {
  const fields = objectOf(held);
  if (otherFields.has(name)) return [name];
  if (name === 'image_url') return typeOfAddress(fields?.['url'] ?? held);
  if (!byteFields.has(name) || fields?.['data'] === undefined) return [];
  const type = fields['media_type'] ?? fields['mimeType'] ?? fields['mime_type'];
  return [typeof type === 'string' ? type.toLowerCase() : 'data without a type'];
};

const typeOfAddress = (address: unknown): readonly string[] => {
  if (typeof address !== 'string') return [];
  const [, type = 'data without a type'] = /^data:([^;,]+)/i.exec(address) ?? [];
  return [type.toLowerCase()];
};
