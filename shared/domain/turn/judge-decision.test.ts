import { describe, expect, test } from 'vitest';
import type { CallId, MessageId, TurnId } from '../ids.ts';
import { type Decision, decidedEvent, judgeDecision } from './judge-decision.ts';
import type { ToolCall } from './tool-call.ts';
import type { Deciding, TurnState } from './turn.ts';

const call = (callId: string, fields: Partial<ToolCall> = {}): ToolCall => ({
  ...{ callId: callId as CallId, name: 'execute_command', args: { command: 'true' }, askedHuman: true },
  ...{ status: 'pending', digest: `digest of ${callId}`, askedAt: 'then' },
  ...fields,
});
const deciding = (...calls: ToolCall[]): Deciding => ({
  ...{ kind: 'deciding', turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
  ...{ usage: { inputTokens: 0, outputTokens: 0 }, policy: { mode: 'ask', grants: [] }, calls },
});
const yes = (fields: Partial<Decision> = {}): Decision => ({ callId: 'a', approved: true, ...fields });
const code = (state: TurnState, decision: Decision, isCut = false): string => {
  const judged = judgeDecision(state, decision, () => isCut);
  return 'refusal' in judged ? judged.refusal.code : 'fits';
};

describe('a decision (AP4)', () => {
  const state = deciding(call('a'), call('b'));
  test.each<[Decision, string]>([
    [yes(), 'fits'],
    [yes({ digest: 'digest of a', turnId: 't' }), 'fits'],
    [yes({ digest: 'digest of b' }), 'conflict'],
    [yes({ turnId: 'u' }), 'conflict'],
    [yes({ approved: false, digest: 'digest of b' }), 'conflict'],
    [yes({ callId: 'b' }), 'no_pending_tool_call'],
    [yes({ callId: 'c' }), 'no_pending_tool_call'],
    [yes({ args: { command: 'x' } }), 'fits'],
    [yes({ args: { command: '\ud800' } }), 'invalid_request'],
    [yes({ args: { command: 'x'.repeat(1_400_000) } }), 'invalid_request'],
    [yes({ approved: false, args: {} }), 'invalid_request'],
    [yes({ approved: false, remember: 'session' }), 'invalid_request'],
    [yes({ remember: { prefix: 'git log' } }), 'fits'],
    [yes({ remember: { prefix: 'git; log' } }), 'invalid_request'],
  ])('%j: %s', (decision, expected) => {
    expect(code(state, decision)).toBe(expected);
  });

  test.each<TurnState>([{ kind: 'idle' }, { ...deciding(), kind: 'acting', calls: [call('a')] }])(
    'finds no call that waits in %j',
    (other) => {
      expect(code(other, yes())).toBe('no_pending_tool_call');
    },
  );

  test('has a prefix for commands alone', () => {
    const file = deciding(call('a', { name: 'read_file' }));
    expect(code(file, yes({ remember: { prefix: 'git' } }))).toBe('invalid_request');
    expect(code(file, yes({ remember: 'session' }))).toBe('fits');
  });

  test('is refused a grant beyond the maximum', () => {
    const by = { kind: 'token', id: 'x' } as const;
    const grants = Array.from({ length: 100 }, () => ({ id: 'g', tool: 't', identity: 'i', by, at: 1 }));
    const full = { ...state, policy: { mode: 'ask' as const, grants } };
    expect(code(full, yes({ remember: 'session' }))).toBe('resource_limit_exceeded');
    expect(code(full, yes())).toBe('fits');
  });
});

test('a cut call is approved by its digest, and rejected without (AP5)', () => {
  const state = deciding(call('a'));
  expect(code(state, yes(), true)).toBe('conflict');
  expect(code(state, yes({ digest: 'digest of a' }), true)).toBe('fits');
  expect(code(state, yes({ approved: false }), true)).toBe('fits');
});

test('a decision becomes an event with all its fields (AP6)', () => {
  const by = { kind: 'person', id: 'ada' } as const;
  const making = { at: 5, by, editedDigest: 'new', grantId: 'g', identity: 'i' };
  const said = yes({ reason: 'fine', args: { command: 'x' }, remember: { prefix: 'git' } });
  expect(decidedEvent(call('a'), said, making)).toEqual({
    ...{ type: 'call-decided', at: 5, callId: 'a', approved: true, by, reason: 'fine' },
    edited: { args: { command: 'x' }, digest: 'new' },
    grant: { id: 'g', tool: 'execute_command', identity: 'i', prefix: 'git', by, at: 5 },
  });
  expect(decidedEvent(call('a'), yes({ reason: '' }), making)).toEqual({
    ...{ type: 'call-decided', at: 5, callId: 'a', approved: true, by },
  });
});
