import { describe, expect, test } from 'vitest';
import { AppError, type ErrorCode, errorBody, errorRules, errorStatus, isAppError } from './errors.ts';

/** The protocol's table, in its words. `tool_outcome_unknown` is only ever said in a turn: it has no status there. */
// biome-ignore format: a table is read by column
const table: Record<ErrorCode, readonly [status: number, retry: 'no' | 'later']> = {
  invalid_request:         [400, 'no'],
  invalid_flavor:          [400, 'no'],
  unsupported_language:    [400, 'no'],
  path_outside_workspace:  [400, 'no'],
  provider_not_configured: [400, 'no'],
  unauthenticated:         [401, 'no'],
  forbidden:               [403, 'no'],
  not_found:               [404, 'no'],
  session_not_found:       [404, 'no'],
  project_not_found:       [404, 'no'],
  workspace_not_found:     [404, 'no'],
  schedule_not_found:      [404, 'no'],
  token_not_found:         [404, 'no'],
  mcp_server_not_found:    [404, 'no'],
  file_not_found:          [404, 'no'],
  invalid_session_state:   [409, 'no'],
  conflict:                [409, 'no'],
  no_pending_tool_call:    [409, 'no'],
  events_purged:           [410, 'no'],
  payload_too_large:       [413, 'no'],
  context_too_long:        [422, 'no'],
  content_refused:         [422, 'no'],
  upgrade_required:        [426, 'no'],
  resource_limit_exceeded: [429, 'later'],
  rate_limited:            [429, 'later'],
  too_many_requests:       [429, 'later'],
  internal_error:          [500, 'later'],
  tool_outcome_unknown:    [500, 'no'],
  provider_auth_failed:    [502, 'no'],
  sandbox_start_failed:    [502, 'later'],
  sandbox_starting:        [503, 'later'],
  sandbox_unavailable:     [503, 'later'],
  provider_rate_limited:   [503, 'later'],
  provider_overloaded:     [503, 'later'],
  provider_unavailable:    [503, 'later'],
  mcp_server_unavailable:  [503, 'later'],
  tool_failed:             [502, 'no'],
  issuer_unavailable:      [503, 'later'],
  execution_timeout:       [504, 'no'],
};

test('the error table matches the protocol', () => {
  const rules = Object.entries(errorRules).map(([code, { status, retry }]) => [
    code,
    [status, retry === 'never' ? 'no' : 'later'],
  ]);
  expect(Object.fromEntries(rules)).toEqual(table);
});

describe('the wire body', () => {
  test('carries code, message and advice, and never the cause or the context', () => {
    const error = new AppError('session_not_found', 'session 1 does not exist', {
      cause: new Error('secret cause'),
      context: { arn: 'secret arn' },
      suggestions: ['Create a session.'],
      recoveryActions: ['create_new_session'],
    });
    expect(errorBody(error, 'r1')).toEqual({
      error: {
        code: 'session_not_found',
        message: 'session 1 does not exist',
        suggestions: ['Create a session.'],
        recoveryActions: ['create_new_session'],
        requestId: 'r1',
      },
    });
    expect(errorStatus(error)).toBe(404);
    expect(error.cause).toEqual(new Error('secret cause'));
  });

  test('has the advice of its code if it brings none', () => {
    expect(errorBody(new AppError('conflict', 'taken'), 'r1')).toEqual({
      error: {
        code: 'conflict',
        message: 'taken',
        suggestions: [errorRules.conflict.advice],
        recoveryActions: [],
        requestId: 'r1',
      },
    });
  });

  test.each([[new Error('a secret path')], ['a thrown text'], [undefined], [null]])(
    'of an unexpected error (%s) reveals nothing of it',
    (thrown) => {
      expect(errorBody(thrown, 'r1')).toEqual({
        error: {
          code: 'internal_error',
          message: 'something went wrong on our side',
          suggestions: ['Try again in a moment.'],
          recoveryActions: ['wait_and_retry'],
          requestId: 'r1',
        },
      });
      expect(errorStatus(thrown)).toBe(500);
    },
  );
});

test('an error is recognized by name and code, from any bundle', () => {
  const foreign = Object.assign(new Error('taken'), { name: 'AppError', code: 'conflict', details: {} });
  expect(isAppError(foreign)).toBe(true);
  expect(isAppError(Object.assign(new Error('x'), { name: 'AppError', code: 'made_up' }))).toBe(false);
  expect(isAppError(Object.assign(new Error('x'), { code: 'conflict' }))).toBe(false);
});
