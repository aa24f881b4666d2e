import { expect, test } from 'vitest';
import { statusLabel } from './status-label.ts';

test('a session at rest is named after the end of its last turn, any other after its status', () => {
  expect(statusLabel({ status: 'idle', lastStopReason: 'error' })).toBe('last turn failed');
  expect(statusLabel({ status: 'idle', lastStopReason: 'budget_exceeded' })).toBe('budget exceeded');
  expect(statusLabel({ status: 'idle', lastStopReason: 'end_turn' })).toBe('idle');
  expect(statusLabel({ status: 'idle' })).toBe('idle');
  expect(statusLabel({ status: 'running', lastStopReason: 'error' })).toBe('running');
  expect(statusLabel({ status: 'completed', lastStopReason: 'error' })).toBe('completed');
});
