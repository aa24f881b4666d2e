/** The document of a conversation. */
import { expect, test } from 'vitest';
import type { ApiClient } from './api-client.ts';
import { exportConversation } from './conversation-export.ts';

const at = '2026-11-21T00:00:00.000Z';
const session = {
  ...{ id: 's1', title: 'Fix\nthe tests', provider: 'demo', model: 'demo', createdAt: at, costUsd: 0.5 },
  usage: { inputTokens: 3, outputTokens: 4 },
};
const logged = [
  ['message', { role: 'user', text: 'hello', attachments: [{ path: 'a`b.png' }] }],
  ['reasoning', { text: 'one\ntwo' }],
  ['message', { role: 'assistant', text: '' }],
  ['tool:call', { name: 'execute_command', args: { command: 'ls' } }],
  ['tool:decided', { approved: false, by: { kind: 'person', name: 'Ada' }, reason: 'no\nnever' }],
  [
    'tool:output',
    { name: 'execute_command', content: [{ type: 'text', text: '```\nx' }, { type: 'image' }] },
  ],
  ['agent:error', { code: 'rate_limited', message: 'wait', provider: 'anthropic' }],
  ['message', { role: 'assistant', text: 'done', partial: true }],
  ['completion', { stopReason: 'cancelled' }],
  ['system', { kind: 'sandbox_started' }],
] as const;
const events = logged.map(([type, data], index) => ({ index, type, at, data, sessionId: 's1' }));

/** Two pages of the log. */
const clientOf = (droppedEvents = 0): Pick<ApiClient, 'request'> => ({
  request: (async (route: { readonly path: string }, given: { query?: { since_index?: number } }) => {
    if (!route.path.endsWith('/events')) return session;
    const since = given.query?.since_index ?? -1;
    const isFirst = since === -1;
    return {
      events: isFirst ? events.slice(0, 4) : events.slice(4),
      hasMore: isFirst,
      droppedEvents: isFirst ? droppedEvents : 0,
    };
  }) as ApiClient['request'],
});

test('Markdown has the conversation in order, and no text of it ends a block', async () => {
  const text = await exportConversation(clientOf(), { id: 's1', format: 'markdown' });
  expect(text.split('\n\n')).toEqual([
    '# Fix the tests',
    `- Session: s1\n- Created: ${at}\n- Model: demo demo\n- Tokens: 3 in, 4 out\n- Cost: $0.5000`,
    `## User · ${at}`,
    'hello',
    '- Attached: `` a`b.png ``',
    '### Thoughts',
    '> one\n> two',
    `## Assistant · ${at}`,
    '### Call · execute_command',
    '```json\n{\n  "command": "ls"\n}\n```',
    '_Rejected by person Ada: no never_',
    '### Result · execute_command',
    '````\n```\nx\n[image]\n````',
    '> **Failed**: wait (anthropic, rate_limited)',
    `## Assistant · ${at}`,
    'done',
    '_The answer was interrupted._',
    '_Ended: cancelled_\n',
  ]);
});

test('JSON has the session and all events, and says when some are missing', async () => {
  const whole = JSON.parse(await exportConversation(clientOf(), { id: 's1', format: 'json' }));
  expect(whole).toEqual({ session, eventsAreMissing: false, events });
  const cut = clientOf(5);
  expect(JSON.parse(await exportConversation(cut, { id: 's1', format: 'json' })).eventsAreMissing).toBe(true);
  expect(await exportConversation(cut, { id: 's1', format: 'markdown' })).toContain('> Older events');
});

test('an output with more backticks than a call takes arguments is written whole', async () => {
  const content = [{ type: 'text', text: '` '.repeat(128 * 1024) }];
  const printed = { index: 0, type: 'tool:output', at, data: { name: 'x', content }, sessionId: 's1' };
  const request = async (route: { readonly path: string }) =>
    route.path.endsWith('/events') ? { events: [printed], hasMore: false, droppedEvents: 0 } : session;
  const client = { request: request as ApiClient['request'] };
  expect(await exportConversation(client, { id: 's1', format: 'markdown' })).toContain('` ` `');
});
