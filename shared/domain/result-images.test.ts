import { expect, test } from 'vitest';
import { imagesLeftOut, imagesOf } from './result-images.ts';

const png = (characters = 100) => `iVBORw0KGgo${'A'.repeat(characters - 11)}`;
const image = (data: string, mimeType = 'image/png') => ({ type: 'image', data, mimeType });

test.each([
  ['image/png', Buffer.from('89504e470d0a1a0a0000000d', 'hex')],
  ['image/jpeg', Buffer.from('ffd8ffe000104a464946', 'hex')],
  ['image/gif', Buffer.from('GIF89a..')],
  ['image/webp', Buffer.from('RIFF\x1a\x02\x00\x00WEBPVP8 ', 'latin1')],
])('%s is known by its first bytes, whatever it is called', (mimeType, bytes) => {
  const data = bytes.toString('base64');
  expect(imagesOf([image(data, 'image/x')])).toEqual({ images: [{ mimeType, data }], notes: [] });
});

test('other blocks are no images, and an image of another kind is named', () => {
  expect(imagesOf([{ type: 'text', text: 'x' }, { type: 'image' }, image('PHN2Zz4=', 'image/png')])).toEqual({
    images: [],
    notes: ['[An image is not shown: it is no PNG, JPEG, GIF or WebP.]'],
  });
});

test('the first four are seen, and at most 320,000 characters of them', () => {
  expect(imagesOf(Array.from({ length: 6 }, () => image(png())))).toEqual({
    images: Array.from({ length: 4 }, () => ({ mimeType: 'image/png', data: png() })),
    notes: Array.from({ length: 2 }, () => '[An image is not shown: at most 4 of one result are.]'),
  });
  const { images, notes } = imagesOf([image(png(200_000)), image(png(200_000)), image(png(120_000))]);
  expect(images.map(({ data }) => data.length)).toEqual([200_000, 120_000]);
  expect(notes).toEqual(['[An image of 146 KB is not shown: those of one result have at most 234 KB.]']);
});

test('the oldest images of a conversation are left out ten at a time', () => {
  expect([0, 20, 21, 30, 31, 45].map(imagesLeftOut)).toEqual([0, 0, 10, 10, 20, 30]);
});
