/** Inline media as each wire writes it: images are counted, and what is counted by pages or seconds is found (BR2, BR4). */
import { expect, test } from 'vitest';
import { foreignMedia, imagesIn } from './media.ts';
import type { Fields } from './provider.ts';

const png = 'data:image/png;base64,AA==';
const source = (media_type: string, type = 'base64') => ({ type, media_type, data: 'AA==' });
const anthropic = (...content: readonly object[]): Fields => ({ messages: [{ role: 'user', content }] });
const image = { type: 'image', source: source('image/png') };
const gemini = (...parts: readonly object[]): Fields => ({ contents: [{ parts }] });

test.each<[string, Fields, number]>([
  ['none', { messages: [{ role: 'user', content: 'image/png' }] }, 0],
  ['two', anthropic(image, { type: 'text', text: 'x' }, image), 2],
  ['in the result of a tool', anthropic({ type: 'tool_result', content: [image] }), 1],
  [
    'in a document of blocks',
    anthropic({ type: 'document', source: { type: 'content', content: [image] } }),
    1,
  ],
  ['of chats', { messages: [{ content: [{ type: 'image_url', image_url: { url: png } }] }] }, 1],
  ['of responses', { input: [{ content: [{ type: 'input_image', image_url: png }] }] }, 1],
  ['in an output', { input: [{ type: 'function_call_output', output: [{ image_url: png }] }] }, 1],
  ['of gemini', gemini({ inlineData: { mimeType: 'image/png', data: 'AA==' } }), 1],
  ['in the other spelling', gemini({ inline_data: { mime_type: 'IMAGE/PNG', data: 'AA==' } }), 1],
  [
    'beside a response',
    gemini({ functionResponse: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] } }),
    1,
  ],
])('images: %s', (_, body, count) => {
  expect(imagesIn(body)).toBe(count);
  expect(foreignMedia(body)).toBeUndefined();
});

test('a text is no media, whatever holds it', () => {
  const body = anthropic({ type: 'document', source: source('text/plain', 'text') });
  expect([imagesIn(body), foreignMedia(body)]).toEqual([0, undefined]);
});

test.each<[string, Fields]>([
  ['application/pdf', anthropic({ type: 'document', source: source('application/pdf') })],
  ['application/pdf', anthropic({ type: 'tool_result', content: [{ source: source('Application/PDF') }] })],
  [
    'file_data',
    { input: [{ content: [{ type: 'input_file', file_data: 'data:application/pdf;base64,AA==' }] }] },
  ],
  ['input_audio', { messages: [{ content: [{ type: 'input_audio', input_audio: { data: 'AA==' } }] }] }],
  ['application/pdf', { input: [{ image_url: 'data:application/pdf;base64,AA==' }] }],
  ['data without a type', { input: [{ image_url: 'data:;base64,AA==' }] }],
  ['video/mp4', gemini({ inlineData: { mimeType: 'video/mp4', data: 'AA==' } })],
  ['data without a type', gemini({ inlineData: { data: 'AA==' } })],
])('%s is found', (type, body) => {
  expect(foreignMedia(body)).toBe(type);
});
