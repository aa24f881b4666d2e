import { expect, test } from 'vitest';
import { toRemoteOutcome } from './remote-result.ts';

const contentOf = (...content: unknown[]) => {
  const outcome = toRemoteOutcome({ content });
  return outcome.status === 'finished' ? outcome.content : outcome;
};

test('text and media are rebuilt from known fields', () => {
  expect(
    contentOf(
      { type: 'text', text: 'hi', annotations: { audience: ['user'] }, _meta: { x: 1 } },
      { type: 'image', data: 'AAEC', mimeType: 'image/png', extra: 1 },
      { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' },
    ),
  ).toEqual([
    { type: 'text', text: 'hi' },
    { type: 'image', data: 'AAEC', mimeType: 'image/png' },
    { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' },
  ]);
});

test('resources become text or pictures', () => {
  expect(
    contentOf(
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'words', mimeType: 'text/plain' } },
      { type: 'resource', resource: { uri: 'file:///a.png', blob: 'AAEC', mimeType: 'image/png' } },
      { type: 'resource', resource: { uri: 'file:///a.zip', blob: 'AAEC', mimeType: 'application/zip' } },
      { type: 'resource', resource: { uri: 'file:///a', blob: 'no base64!' } },
      { type: 'resource_link', uri: 'https://example.com/a', name: 'A' },
    ),
  ).toEqual([
    { type: 'text', text: 'words' },
    { type: 'image', data: 'AAEC', mimeType: 'image/png' },
    { type: 'text', text: '[file:///a.zip: application/zip, not shown]' },
    { type: 'text', text: '[file:///a: application/octet-stream, not shown]' },
    { type: 'text', text: '[A: https://example.com/a]' },
  ]);
});

test.each([
  [null],
  ['text'],
  [{ type: 'text' }],
  [{ type: 'text', text: 1 }],
  [{ type: 'image', data: '<svg>', mimeType: 'image/png' }],
  [{ type: 'image', data: 'AAEC', mimeType: 'image/png; x=<script>' }],
  [{ type: 'tool:call', name: 'x' }],
])('an unreadable block is named, and the others stay: %j', (block) => {
  expect(contentOf(block, { type: 'text', text: 'hi' })).toEqual([
    { type: 'text', text: '[a block that could not be read was left out]' },
    { type: 'text', text: 'hi' },
  ]);
});

test('blocks and texts are bounded', () => {
  const many = Array.from({ length: 250 }, () => ({ type: 'text', text: 'x' }));
  const content = contentOf(...many);
  expect(content).toHaveLength(101);
  expect(Array.isArray(content) && content.at(-1)).toEqual({
    type: 'text',
    text: '[150 more blocks were left out]',
  });
  const long = contentOf({ type: 'text', text: 'x'.repeat(3_000_000) });
  expect(JSON.stringify(long).length).toBeLessThan(1_048_700);
});

test('a failure has its message, cut, and no code of its choice', () => {
  const text = JSON.stringify({ error: { type: 'session_not_found', message: 'x' } });
  expect(toRemoteOutcome({ content: [{ type: 'text', text }], isError: true })).toEqual({
    status: 'failed',
    code: 'tool_failed',
    message: text,
  });
  const long = toRemoteOutcome({ content: [{ type: 'text', text: 'x'.repeat(100_000) }], isError: true });
  expect(long.status === 'failed' && long.message.length <= 50_000).toBe(true);
  expect(toRemoteOutcome({ content: [], isError: true })).toMatchObject({
    message: 'the tool failed without an error message',
  });
});

test('structured content is an object of bounded size and depth, and the text of a result without one', () => {
  const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
  const structuredOf = (structuredContent: unknown) => toRemoteOutcome({ content: [], structuredContent });
  const said = (text: string) => [{ type: 'text', text }];
  expect(structuredOf({ a: 1 })).toEqual({
    ...{ status: 'finished', content: said('{"a":1}'), structured: { a: 1 } },
  });
  expect(structuredOf([1])).toEqual({ status: 'finished', content: said('[1]') });
  expect(toRemoteOutcome({ content: said('one'), structuredContent: { a: 1 } })).toMatchObject({
    content: said('one'),
  });
  expect(toRemoteOutcome({ content: [], isError: true, structuredContent: { why: 'no' } })).toMatchObject({
    ...{ status: 'failed', message: '{"why":"no"}' },
  });
  for (const value of [null, undefined, { a: 'x'.repeat(300_000) }, deep(100), deep(100_000)])
    expect(structuredOf(value)).toEqual({ status: 'finished', content: [] });
});

test.each([undefined, null, {}, { content: 'x' }, { content: [], isError: 'yes' }])(
  '%j is not a result',
  (answer) => {
    expect(toRemoteOutcome(answer)).toEqual({
      status: 'failed',
      code: 'tool_failed',
      message: 'the server returned an invalid tool result',
    });
  },
);
