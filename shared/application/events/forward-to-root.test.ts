import { expect, test } from 'vitest';
import type { SessionId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import { forwardedToRoot } from './publisher.ts';

const frame = (type: string, data: JsonObject = {}) => ({
  type,
  sessionId: 'child' as SessionId,
  seq: 7,
  at: '2026-01-01T00:00:00.000Z',
  data,
});

test('a request for approval is forwarded unchanged, without its number', () => {
  const asked = frame('tool:approval_required', { callId: 'c', name: 'execute_command' });
  expect(forwardedToRoot(asked)).toEqual({ ...asked, seq: null });
});

test.each(['token', 'person'])('a decision by a %s settles its call', (kind) => {
  const { sessionId, at } = frame('tool:decided');
  expect(forwardedToRoot(frame('tool:decided', { callId: 'c', by: { kind, id: 'x' } }))).toEqual({
    ...{ type: 'system', sessionId, at, seq: null },
    data: { kind: 'child_settled', callId: 'c' },
  });
});

test.each(['grant', 'policy'])('a call that a %s allowed never waited', (kind) => {
  expect(forwardedToRoot(frame('tool:decided', { callId: 'c', by: { kind, id: 'x' } }))).toBeUndefined();
});

test('a completion settles every waiting call', () => {
  const told = forwardedToRoot(frame('completion', { text: 'x', stopReason: 'cancelled' }));
  expect(told).toMatchObject({ type: 'system', seq: null, data: { kind: 'child_settled' } });
  expect(told?.data).not.toHaveProperty('callId');
});

test.each([
  ...['message', 'delta', 'tool:call', 'tool:progress', 'tool:rejected', 'tool:output', 'system'],
  ...['agent:error', 'caller_tool:request'],
])('%s of a child session is not forwarded', (type) => {
  expect(forwardedToRoot(frame(type, { callId: 'c' }))).toBeUndefined();
});
