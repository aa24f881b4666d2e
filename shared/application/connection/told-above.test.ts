import { expect, test } from 'vitest';
import type { SessionId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import { toldAbove } from './told-above.ts';

const frame = (type: string, data: JsonObject = {}) => ({
  type,
  sessionId: 'child' as SessionId,
  seq: 7,
  at: '2026-01-01T00:00:00.000Z',
  data,
});

test('what a person must decide is told as it is, without its number', () => {
  const asked = frame('tool:approval_required', { callId: 'c', name: 'execute_command' });
  expect(toldAbove(asked)).toEqual({ ...asked, seq: null });
});

test.each(['tool:rejected', 'tool:output', 'agent:error'])('%s settles its call', (type) => {
  const { sessionId, at } = frame(type);
  expect(toldAbove(frame(type, { callId: 'c', text: 'x' }))).toEqual({
    ...{ type: 'system', sessionId, at, seq: null },
    data: { kind: 'child_settled', callId: 'c' },
  });
});

test('a completion settles whatever still waits', () => {
  const told = toldAbove(frame('completion', { text: 'x', stopReason: 'cancelled' }));
  expect(told).toMatchObject({ type: 'system', seq: null, data: { kind: 'child_settled' } });
  expect(told?.data).not.toHaveProperty('callId');
});

test.each(['message', 'delta', 'tool:call', 'tool:progress', 'system', 'agent:error', 'caller_tool:request'])(
  '%s of a session below is not told',
  (type) => {
    expect(toldAbove(frame(type))).toBeUndefined();
  },
);
