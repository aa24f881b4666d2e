/** The advice on failures. */
import { expect, test } from 'vitest';
import { adviceOn } from '#shared/errors.ts';
import { adviceOnCall, mayHelpAgain } from './failure-advice.ts';

test('a failed turn has the advice of its code, and is not to be repeated where that cannot help', () => {
  expect(adviceOn('context_too_long')).toBe('Shorten the message, or start a new session.');
  expect(adviceOn('of_a_newer_server')).toBeUndefined();
  const codes = ['context_too_long', 'content_refused', 'provider_overloaded', 'of_a_newer_server'];
  expect(codes.map(mayHelpAgain)).toEqual([false, false, true, true]);
});

test('a failed call has advice where it is for a person, and none where it is for the agent', () => {
  expect(adviceOnCall('tool_outcome_unknown')).toContain('Look at the workspace');
  expect(adviceOnCall('tool_failed')).toBeUndefined();
});
