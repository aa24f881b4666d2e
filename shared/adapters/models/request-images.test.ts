/** Images of tool results and of the user's messages, as each provider is sent them. */
import { expect, test } from 'vitest';
import type { HistoryImage, HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, MessageId } from '#shared/domain/ids.ts';
import { messagesRequest } from './anthropic-messages.ts';
import { converseInput } from './bedrock-input.ts';
import { contentsOf } from './gemini-contents.ts';
import { chatRequest } from './openai-chat-input.ts';
import { responseRequest } from './openai-input.ts';
import { shownImages } from './request-images.ts';
import { mapToolNames } from './tool-names.ts';

const png: HistoryImage = { mimeType: 'image/png', data: 'iVBORw0KGgo=' };
const gif: HistoryImage = { mimeType: 'image/gif', data: 'R0lGODlh' };

const result = (callId: string, images: readonly HistoryImage[]): HistoryMessage & { role: 'tool' } => ({
  ...{ role: 'tool', callId: callId as CallId, name: 'draw', text: '[image]', outcome: 'completed' },
  ...(images.length === 0 ? {} : { images }),
});
const history: readonly HistoryMessage[] = [
  { role: 'user', messageId: 'm' as MessageId, text: 'draw' },
  {
    ...{ role: 'assistant', messageId: 'a' as MessageId, text: '' },
    calls: ['c1', 'c2'].map((callId) => ({ callId: callId as CallId, name: 'draw', args: {} })),
  },
  result('c1', [png, gif]),
  result('c2', []),
];
const names = mapToolNames(['draw'], { refused: /[^\w-]/gu, charactersMax: 64 });
const requestOf = (model: string) => ({ model, system: '', tools: [], history, outputTokensMax: 100 });
const sent = { withState: true, withImages: true, thinking: 'unset' } as const;
const without = { withState: true, withImages: false, thinking: 'unset' } as const;

test('anthropic sees them in the result', () => {
  const source = (mimeType: string, data: string) => ({ type: 'base64', media_type: mimeType, data });
  const { messages } = messagesRequest(requestOf('claude'), names, sent);
  expect(messages[2]?.content).toMatchObject([
    {
      type: 'tool_result',
      tool_use_id: 'c1',
      content: [
        { type: 'text', text: '[image]' },
        { type: 'image', source: source('image/png', png.data) },
        { type: 'image', source: source('image/gif', gif.data) },
      ],
    },
    { type: 'tool_result', tool_use_id: 'c2', content: '[image]' },
  ]);
  expect(JSON.stringify(messagesRequest(requestOf('claude'), names, without))).not.toContain(png.data);
});

test('openai sees them in the output of the call', () => {
  const { input } = responseRequest(requestOf('gpt'), names, sent);
  expect(input?.slice(-2)).toEqual([
    {
      type: 'function_call_output',
      call_id: 'c1',
      output: [
        { type: 'input_text', text: '[image]' },
        { type: 'input_image', image_url: `data:image/png;base64,${png.data}` },
        { type: 'input_image', image_url: `data:image/gif;base64,${gif.data}` },
      ],
    },
    { type: 'function_call_output', call_id: 'c2', output: '[image]' },
  ]);
  expect(JSON.stringify(responseRequest(requestOf('gpt'), names, without))).not.toContain(png.data);
});

const answered = (callId: string) => ({
  functionResponse: { id: callId, name: 'draw', response: { output: '[image]' } },
});
const inline = { inlineData: { mimeType: 'image/png', data: png.data } };

test('gemini 3 sees them as parts of the result, without those it does not take', () => {
  const first = { functionResponse: { ...answered('c1').functionResponse, parts: [inline] } };
  expect(contentsOf(requestOf('gemini-3-pro'), names, sent).at(-1)).toEqual({
    role: 'user',
    parts: [first, answered('c2')],
  });
});

test('gemini 2 sees them after all results', () => {
  const shown = contentsOf(requestOf('gemini-2.5-pro'), names, sent);
  expect(shown.at(-1)).toEqual({ role: 'user', parts: [answered('c1'), answered('c2'), inline] });
  expect(JSON.stringify(contentsOf(requestOf('gemini-2.5-pro'), names, without))).not.toContain(png.data);
});

test('the newest images of a long conversation are shown', () => {
  const results = Array.from({ length: 9 }, (_, index) => result(`c${index}`, [png, png, png]));
  const imagesOf = shownImages(results, true);
  expect(results.map((message) => imagesOf(message).length)).toEqual([0, 0, 0, 2, 3, 3, 3, 3, 3]);
});

const shown: readonly HistoryMessage[] = [
  { role: 'user', messageId: 'm' as MessageId, text: 'what is this?', images: [png, gif] },
];
const asking = { ...requestOf('gemini-3.8-flash'), history: shown };

test('every provider sees what the user showed beside the text', () => {
  const source = (mimeType: string, data: string) => ({ type: 'base64', media_type: mimeType, data });
  expect(messagesRequest(asking, names, sent).messages[0]?.content).toMatchObject([
    { type: 'text', text: 'what is this?' },
    { type: 'image', source: source('image/png', png.data) },
    { type: 'image', source: source('image/gif', gif.data) },
  ]);
  const url = ({ mimeType, data }: HistoryImage) => `data:${mimeType};base64,${data}`;
  expect(responseRequest(asking, names, sent).input).toEqual([
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'what is this?' },
        { type: 'input_image', image_url: url(png), detail: 'auto' },
        { type: 'input_image', image_url: url(gif), detail: 'auto' },
      ],
    },
  ]);
  expect(chatRequest(asking, names, sent).messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'what is this?' },
        { type: 'image_url', image_url: { url: url(png) } },
        { type: 'image_url', image_url: { url: url(gif) } },
      ],
    },
  ]);
  const block = ({ mimeType, data }: HistoryImage) => ({
    image: { format: mimeType.slice('image/'.length), source: { bytes: Buffer.from(data, 'base64') } },
  });
  expect(converseInput(asking, names, sent).messages).toEqual([
    { role: 'user', content: [{ text: 'what is this?' }, block(png), block(gif)] },
  ]);
  // Gemini takes no GIF.
  expect(contentsOf(asking, names, sent)).toEqual([
    { role: 'user', parts: [{ text: 'what is this?' }, { inlineData: png }] },
  ]);
});

test('a request without images says what the user said', () => {
  expect(responseRequest(asking, names, without).input).toEqual([{ role: 'user', content: 'what is this?' }]);
  expect(chatRequest(asking, names, without).messages).toEqual([{ role: 'user', content: 'what is this?' }]);
  expect(converseInput(asking, names, without).messages?.[0]?.content).toEqual([{ text: 'what is this?' }]);
  expect(contentsOf(asking, names, without)[0]?.parts).toEqual([{ text: 'what is this?' }]);
});
