import { expect, test } from 'vitest';
import type { CallId, MessageId, TurnId } from '../ids.ts';
import { assertTurn } from './invariants.ts';
import type { ToolCall } from './tool-call.ts';
import type { TurnState } from './turn.ts';

const limits = { stepsMax: 3, callsMax: 4, usdMax: 10 };
const running = {
  turnId: 'turn-1' as TurnId,
  messageId: 'question' as MessageId,
  step: 1,
  usage: { inputTokens: 0, outputTokens: 0 },
  spentUsd: 0,
  policy: { mode: 'ask', grants: [] },
} as const;
const call = (callId: string, status: ToolCall['status'], fields: Partial<ToolCall> = {}): ToolCall => ({
  callId: callId as CallId,
  name: 'shell',
  args: {},
  status,
  askedHuman: true,
  digest: 'd',
  askedAt: 'then',
  ...fields,
});
const deciding = (...calls: ToolCall[]): TurnState => ({ ...running, kind: 'deciding', calls });
const acting = (...calls: ToolCall[]): TurnState => ({ ...running, kind: 'acting', calls });

const broken: [string, TurnState][] = [
  ['T1: model calls are counted from one', { ...running, kind: 'thinking', step: 0 }],
  ['T1: the number of model calls is bounded', { ...running, kind: 'thinking', step: 4 }],
  ['T2: the queue is never empty', acting()],
  ['T3: call ids are unique in a queue', deciding(call('c1', 'pending'), call('c1', 'pending'))],
  ['T4: a turn decides exactly while a call waits', deciding(call('c1', 'approved'))],
  ['T4: a turn decides exactly while a call waits', acting(call('c1', 'approved'), call('c2', 'pending'))],
  [
    'T5: no call starts while another waits for a human',
    deciding(call('c1', 'pending'), call('c2', 'executing', { generation: 1 })),
  ],
  [
    'T5: no call starts while another waits for a human',
    deciding(call('c1', 'pending'), call('c2', 'completed')),
  ],
  [
    'T5: no call starts while another waits for a human',
    deciding(call('c1', 'pending'), call('c2', 'failed')),
  ],
  ['T6: an acting turn owes at least one call', acting(call('c1', 'completed'), call('c2', 'rejected'))],
  ['T7: an executing call knows its sandbox, a rejected one was asked', acting(call('c1', 'executing'))],
  [
    'T7: an executing call knows its sandbox, a rejected one was asked',
    acting(call('c1', 'approved'), call('c2', 'rejected', { askedHuman: false })),
  ],
];

test.each(broken)('a state that breaks "%s" is refused', (statement, state) => {
  expect(() => assertTurn(state, limits)).toThrow(statement);
});

const sound: TurnState[] = [
  { kind: 'idle' },
  { kind: 'done', turnId: running.turnId, stopReason: 'end_turn' },
  { ...running, kind: 'thinking', step: 3 },
  deciding(call('c1', 'approved'), call('c2', 'rejected'), call('c3', 'pending')),
  acting(call('c1', 'executing', { generation: 0 }), call('c2', 'completed'), call('c3', 'failed')),
  acting(call('c1', 'approved', { askedHuman: false }), call('c2', 'rejected')),
];

test.each(sound)('a sound $kind state passes', (state) => {
  expect(() => assertTurn(state, limits)).not.toThrow();
});
