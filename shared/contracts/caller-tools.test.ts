import { expect, test } from 'vitest';
import { answerOf } from './caller-tools.ts';

const said = (text: string) => ({ content: [{ type: 'text', text }] });
const image = { type: 'image', data: 'AAEC', mimeType: 'image/png' };

test.each([
  [undefined, said('')],
  ['done', said('done')],
  [null, said('null')],
  [{ rows: 3 }, said('{"rows":3}')],
  [{ isError: true, rows: 3 }, said('{"isError":true,"rows":3}')],
  [said('done'), said('done')],
  [
    { content: [{ type: 'text', text: 'done', _meta: null }, image] },
    { content: [...said('done').content, image] },
  ],
  [{ content: [] }, { content: [] }],
  [{ ...said('done'), isError: false, structuredContent: null, _meta: null }, said('done')],
])('the result %j of a client is for the model', (result, answer) => {
  expect(answerOf(result)).toEqual(answer);
});

test('structured content is the text of a result of MCP without one', () => {
  expect(answerOf({ content: [], structuredContent: { rows: 3 } })).toEqual(said('{"rows":3}'));
  expect(answerOf({ ...said('three rows'), structuredContent: { rows: 3 } })).toEqual(said('three rows'));
});

test('blocks that are neither text nor image are told as JSON', () => {
  const result = { content: [{ type: 'audio', data: 'AAEC', mimeType: 'audio/wav' }] };
  expect(answerOf(result)).toEqual(said(JSON.stringify(result)));
});

const failed = (message: string) => ({ code: 'tool_failed', message });

test.each([
  [said('disk full'), failed('disk full')],
  [{ content: [], structuredContent: { why: 'disk full' } }, failed('{"why":"disk full"}')],
  [{ content: [] }, failed('the tool failed without an error message')],
])('a result of MCP that is an error is a failure: %j', (result, answer) => {
  expect(answerOf({ ...result, isError: true })).toEqual(answer);
});

test('the text of a failure is cut', () => {
  const answer = answerOf({ ...said('x'.repeat(100_000)), isError: true });
  expect('message' in answer && answer.message.length <= 10_000).toBe(true);
});
