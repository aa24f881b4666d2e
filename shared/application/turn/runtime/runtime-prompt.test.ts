/** The prompt of a turn that repeats a failed one: the message that the conversation has already. */
import { expect, test } from 'vitest';
import { newSession } from '../../../../tests/conformance/session-fixture.ts';
import type { MessageId, TurnId } from '../../../domain/ids.ts';
import type { TurnContext } from '../holder/turn-context.ts';
import { promptOf } from './runtime-prompt.ts';

const messageId = 'm' as MessageId;
const state: Parameters<typeof promptOf>[1] = {
  ...{ kind: 'thinking', turnId: 'u' as TurnId, messageId, step: 1, spentUsd: 0 },
  ...{ usage: { inputTokens: 0, outputTokens: 0 }, policy: { mode: 'ask', grants: [] } },
  runtime: { name: 'opencode', starts: 1, taken: 0, replies: [] },
};
const asked = { messageId, text: 'mend it', attachments: [{ path: '/workspace/log' }] };
const promptFor = (inbox: readonly object[]): string => {
  const history = [
    { role: 'user', messageId: 'before', text: 'hello' },
    { role: 'user', ...asked },
  ];
  return promptOf({ session: newSession(), history, inbox } as unknown as TurnContext, state).text;
};

test('a repeated turn hands over what its message says, and its attachments', () => {
  const text = 'mend it\n\nAttached file: /workspace/log';
  expect(promptFor([asked])).toBe(text);
  expect(promptFor([{ messageId, text: '', repeats: 't' }])).toBe(text);
});
