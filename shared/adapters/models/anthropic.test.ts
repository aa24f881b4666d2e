import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, MessageId } from '#shared/domain/ids.ts';
import type { ModelChunk, ToolSpec } from '#shared/domain/model.ts';
import { makeAnthropicProvider } from './anthropic.ts';

const claude = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 5 });
beforeAll(async () => void (await claude.start()));
afterAll(async () => claude.stop());
beforeEach(() => void claude.clearFixtures().clearRequests());

const user = (text: string): HistoryMessage => ({ role: 'user', messageId: 'm' as MessageId, text });
const tools: readonly ToolSpec[] = [
  { name: 'list_files', description: 'Lists.', inputSchema: { type: 'object' } },
  { name: 'mcp:read', description: 'Reads.', inputSchema: { type: 'object' } },
];

const answer = async (history: readonly HistoryMessage[]): Promise<ModelChunk[]> => {
  const provider = await makeAnthropicProvider({ auth: 'key', apiKey: 'sk-test', baseUrl: claude.url });
  const request = { model: 'claude-opus-5-5', system: 'Be brief.', tools, history, outputTokensMax: 100 };
  return Array.fromAsync(provider.stream(request, new AbortController().signal));
};

test('the text comes whole, then the end with the cost', async () => {
  claude.onMessage('hello', { content: 'Hello, you!', usage: { input_tokens: 12, output_tokens: 4 } });
  const chunks = await answer([user('hello')]);
  expect(chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('')).toBe('Hello, you!');
  expect(chunks.at(-1)).toEqual({
    type: 'end',
    end: 'end_turn',
    usage: { inputTokens: 12, outputTokens: 4 },
  });
});

test('calls arrive whole, under the platform’s tool names', async () => {
  claude.onMessage('look', {
    content: 'Looking.',
    toolCalls: [
      { id: 'toolu_1', name: 'list_files', arguments: '{"path":"src"}' },
      { id: 'toolu_2', name: 'mcp_read', arguments: '{}' },
    ],
  });
  const chunks = await answer([user('look')]);
  expect(chunks.filter(({ type }) => type !== 'text')).toEqual([
    { type: 'call', callId: 'toolu_1', name: 'list_files', args: { path: 'src' } },
    { type: 'call', callId: 'toolu_2', name: 'mcp:read', args: {} },
    { type: 'end', end: 'tool_use', usage: { inputTokens: 0, outputTokens: 0 } },
  ]);
});

test('results are sent after their calls', async () => {
  claude.onToolResult('toolu_1', { content: 'Two files.' });
  const chunks = await answer([
    user('look'),
    {
      role: 'assistant',
      messageId: 'a' as MessageId,
      text: '',
      calls: [{ callId: 'toolu_1' as CallId, name: 'mcp:read', args: { path: 'src' } }],
    },
    { role: 'tool', callId: 'toolu_1' as CallId, name: 'mcp:read', text: 'a b', outcome: 'completed' },
  ]);
  expect(chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('')).toBe('Two files.');
  expect(claude.getLastRequest()?.body).toMatchObject({
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'look' },
      { role: 'assistant', tool_calls: [{ id: 'toolu_1', function: { name: 'mcp_read' } }] },
      { role: 'tool', content: 'a b', tool_call_id: 'toolu_1' },
    ],
  });
});

test('a call of a tool that is no longer offered keeps a valid name', async () => {
  claude.onToolResult('toolu_1', { content: 'Fine.' });
  await answer([
    user('look'),
    {
      role: 'assistant',
      messageId: 'a' as MessageId,
      text: '',
      calls: [{ callId: 'toolu_1' as CallId, name: 'gone:tool', args: {} }],
    },
    { role: 'tool', callId: 'toolu_1' as CallId, name: 'gone:tool', text: 'a', outcome: 'completed' },
  ]);
  expect(claude.getLastRequest()?.body).toMatchObject({
    messages: [{}, {}, { tool_calls: [{ function: { name: 'gone_tool' } }] }, {}],
  });
});

test('thinking is not part of the text', async () => {
  claude.onMessage('think', { content: 'Done.', reasoning: 'Let me see.' });
  const chunks = await answer([user('think')]);
  expect(chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('')).toBe('Done.');
});
