import { expect, test } from 'vitest';
import { isSettled } from './approvals.ts';
import { SallyportError, unexpectedAnswer } from './errors.ts';

test.each([
  ['no_pending_tool_call', 409],
  ['session_not_found', 404],
])('a decision that is refused with %s has nothing left to decide', (code, status) => {
  expect(isSettled(new SallyportError(status, { code, message: 'x' }))).toBe(true);
});

test('a page that a proxy answers says nothing about a call', () => {
  expect(isSettled(unexpectedAnswer('http://x.example', 'HTTP 404', { status: 404 }))).toBe(false);
});
