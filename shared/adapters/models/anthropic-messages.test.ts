import { expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, MessageId } from '#shared/domain/ids.ts';
import type { ModelRequest } from '#shared/domain/model.ts';
import { messagesRequest } from './anthropic-messages.ts';
import { mapToolNames } from './tool-names.ts';

const user = (text: string): HistoryMessage => ({ role: 'user', messageId: 'm' as MessageId, text });
const assistant = (text: string, ...asked: [callId: string, name: string][]): HistoryMessage => ({
  role: 'assistant',
  messageId: 'a' as MessageId,
  text,
  calls: asked.map(([callId, name]) => ({ callId: callId as CallId, name, args: { path: 'x' } })),
});
const result = (
  callId: string,
  text: string,
  outcome: 'completed' | 'failed' | 'rejected' = 'completed',
): HistoryMessage => ({ role: 'tool', callId: callId as CallId, name: 'read_file', text, outcome });

const written = (history: readonly HistoryMessage[], more: Partial<ModelRequest> = {}) => {
  const request = { model: 'claude', system: 'Be brief.', tools: [], history, outputTokensMax: 100, ...more };
  const names = mapToolNames(['mcp:read'], { refused: /[^a-zA-Z0-9_-]/gu, charactersMax: 128 });
  return messagesRequest(request, names);
};
const mark = { cache_control: { type: 'ephemeral' } };

test('a request carries cache marks on its last tool, its system text and the ends of its newest messages', () => {
  const tool = (name: string) => ({ name, description: name, inputSchema: { type: 'object' } });
  const request = written([user('one'), assistant('two'), user('three')], {
    tools: [tool('list_files'), tool('mcp:read')],
  });
  expect(request).toEqual({
    model: 'claude',
    max_tokens: 100,
    stream: true,
    system: [{ type: 'text', text: 'Be brief.', ...mark }],
    tools: [
      { name: 'list_files', description: 'list_files', input_schema: { type: 'object', properties: {} } },
      {
        name: 'mcp_read',
        description: 'mcp:read',
        input_schema: { type: 'object', properties: {} },
        ...mark,
      },
    ],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'one', ...mark }] },
      { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
      { role: 'user', content: [{ type: 'text', text: 'three', ...mark }] },
    ],
  });
});

test('results follow their calls together, each with its outcome', () => {
  const { messages } = written([
    user('go'),
    assistant('', ['c1', 'mcp:read'], ['c2', 'list_files'], ['c3', 'list_files']),
    result('c2', 'The user rejected this call. It did not run.', 'rejected'),
    result('c1', 'Tool mcp:read failed: gone', 'failed'),
    result('c3', 'a.txt'),
    user('and now?'),
  ]);
  expect(messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'go', ...mark }] },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'c1', name: 'mcp_read', input: { path: 'x' } },
        { type: 'tool_use', id: 'c2', name: 'list_files', input: { path: 'x' } },
        { type: 'tool_use', id: 'c3', name: 'list_files', input: { path: 'x' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c2',
          content: 'The user rejected this call. It did not run.',
          is_error: true,
        },
        { type: 'tool_result', tool_use_id: 'c1', content: 'Tool mcp:read failed: gone', is_error: true },
        { type: 'tool_result', tool_use_id: 'c3', content: 'a.txt' },
        { type: 'text', text: 'and now?', ...mark },
      ],
    },
  ]);
});

test('no blank text is sent, and a message without blocks joins its neighbours', () => {
  const { messages } = written([
    user(' \n'),
    assistant('  '),
    user('again'),
    assistant('\n', ['c1', 'list_files']),
    result('c1', ''),
  ]);
  expect(messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: '(a blank message)' },
        { type: 'text', text: 'again', ...mark },
      ],
    },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'c1', name: 'list_files', input: { path: 'x' } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '(no output)', ...mark }] },
  ]);
});

test('a lone surrogate is replaced wherever it appears', () => {
  const call = { callId: 'c1' as CallId, name: 'list_files', args: { deep: [{ path: 'a\ud800' }] } };
  const request = written(
    [
      user('b\udc00'),
      { role: 'assistant', messageId: 'a' as MessageId, text: 'c\ud800', calls: [call] },
      result('c1', 'd\ud800'),
    ],
    { system: 'e\ud800' },
  );
  expect(JSON.stringify(request)).not.toMatch(/\\ud[89a-f]/);
  expect(request.messages[1]?.content).toEqual([
    { type: 'text', text: 'c\ufffd' },
    { type: 'tool_use', id: 'c1', name: 'list_files', input: { deep: [{ path: 'a\ufffd' }] } },
  ]);
});

test('a request without system text or tools leaves them out', () => {
  expect(written([user('hi')], { system: '' })).toEqual({
    model: 'claude',
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', ...mark }] }],
  });
});

test('no request has more than four cache marks, however long it is', () => {
  const history = Array.from({ length: 5 }, (_, index) => [
    user(`question ${index}`),
    assistant('', ['c1', 'list_files']),
    result('c1', 'a.txt'),
    assistant('done'),
  ]).flat();
  const request = written([...history, user('more')], {
    tools: [{ name: 'list_files', description: 'Lists.', inputSchema: {} }],
  });
  expect(JSON.stringify(request).match(/cache_control/g)).toHaveLength(4);
  expect(request.messages.slice(-3)).toEqual([
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a.txt', ...mark }],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
    { role: 'user', content: [{ type: 'text', text: 'more', ...mark }] },
  ]);
});
