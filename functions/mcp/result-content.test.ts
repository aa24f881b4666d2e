/** A refusal as a tool's client reads it: what it needs besides is named as tools name it. */
import { expect, test } from 'vitest';
import { AppError, errorRules } from '#shared/errors.ts';
import { toErrorResult } from './result-content.ts';

test('the session of the error is included, and no other fact', () => {
  const error = new AppError('conflict', 'no', { facts: { sessionId: 's-1', maxSessions: 3 } });
  const [block] = toErrorResult(error, 'r').content;
  expect(JSON.parse(block?.type === 'text' ? block.text : '')).toEqual({
    error: {
      ...{ type: 'conflict', message: 'no', suggestions: [errorRules.conflict.advice] },
      ...{ recovery_actions: [], session_id: 's-1' },
    },
  });
});
