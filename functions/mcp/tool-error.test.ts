/** A refusal as a tool's client reads it: what it needs besides is named as tools name it. */
import { expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { toErrorResult } from './tool-error.ts';

test('a fact of the error is in it, in the words of a tool', () => {
  const refused = new AppError('tool_outcome_unknown', 'the connection broke', {
    facts: { sessionId: 's-1', maxSessions: 3 },
  });
  const [block] = toErrorResult(refused, 'r').content;
  expect(JSON.parse(block?.type === 'text' ? block.text : '')).toEqual({
    error: {
      type: 'tool_outcome_unknown',
      message: 'the connection broke',
      suggestions: [],
      recovery_actions: [],
      session_id: 's-1',
      max_sessions: 3,
    },
  });
});
