import { describe, expect, test } from 'vitest';
import { decode } from './decode.ts';
import { approval, connectionQuery, decodeAction, socketAction } from './socket-actions.ts';

const problemOf = (value: unknown): string => {
  const result = decode(socketAction, value);
  return result.ok ? 'none' : result.problem;
};

describe('a client may send', () => {
  test.each([
    [{ action: 'message', text: 'hello' }],
    [{ action: 'message', text: 'hello', messageId: 'm-1', model: 'claude-opus-5-5' }],
    [{ action: 'message', text: 'hello', messageId: 'm'.repeat(128), model: 'm'.repeat(256) }],
    [{ action: 'tool:approval', callId: 'c-1', approved: true }],
    [{ action: 'tool:approval', callId: 'c-1', approved: false, remember: 'session' }],
    [{ action: 'turn:cancel' }],
    [{ action: 'history:reset' }],
    [{ action: 'session:stop' }],
    [
      {
        action: 'caller_tools:declare',
        callerId: 'ide',
        tools: [{ name: 'open', description: 'opens', inputSchema: { type: 'object' } }],
      },
    ],
    [{ action: 'caller_tool:result', requestId: 'r', result: { any: ['json'] } }],
    [{ action: 'ping' }],
  ])('%j', (action) => {
    expect(decode(socketAction, action)).toEqual({ ok: true, value: action });
  });

  test('unknown fields, which are dropped', () => {
    expect(decode(socketAction, { action: 'ping', extra: 1 })).toEqual({
      ok: true,
      value: { action: 'ping' },
    });
  });
});

describe('a field without a value, as many languages write it, counts as absent', () => {
  const tool = { name: 'open', inputSchema: { type: 'object', default: null } };
  test.each([
    [
      { action: 'message', text: 'a', messageId: null, model: null, thinking: null, attachments: null },
      { action: 'message', text: 'a' },
    ],
    [
      { action: 'tool:approval', callId: 'c', approved: true, remember: null, args: null, digest: null },
      { action: 'tool:approval', callId: 'c', approved: true },
    ],
    [
      { action: 'caller_tools:declare', callerId: 'ide', tools: [{ ...tool, description: null }] },
      { action: 'caller_tools:declare', callerId: 'ide', tools: [{ ...tool, description: '' }] },
    ],
    [
      { action: 'caller_tool:result', requestId: 'r', result: { deep: null }, error: null },
      { action: 'caller_tool:result', requestId: 'r', result: { deep: null } },
    ],
    [
      { action: 'process:input', processId: 'p', text: '', order: null, offset: null },
      { action: 'process:input', processId: 'p', text: '' },
    ],
  ])('%j', (given, value) => {
    expect(decodeAction(JSON.stringify(given))).toEqual({ ok: true, value });
  });

  test('but null is a result, and edited arguments may have one', () => {
    for (const value of [
      { action: 'caller_tool:result', requestId: 'r', result: null },
      { action: 'tool:approval', callId: 'c', approved: true, args: { branch: null } },
    ])
      expect(decodeAction(JSON.stringify(value))).toEqual({ ok: true, value });
  });

  test('but not a required one', () => {
    const given = '{"action":"message","text":null,"model":null}';
    expect(decodeAction(given)).toEqual({ ok: false, problem: 'text: must be a text, not null' });
  });
});

describe('refused frames', () => {
  const unknownAction =
    'action: must be one of "message", "tool:approval", "turn:cancel", "history:reset", "session:stop", "caller_tools:declare", "caller_tool:result", "process:input", "process:resize", "ping"';

  test.each([
    [{ action: 'nonsense' }, unknownAction],
    [{ action: 5 }, unknownAction],
    [{}, unknownAction],
    [[], 'the value must be an object, not a list'],
    [null, 'the value must be an object, not null'],
    ['ping', 'the value must be an object, not a text'],
    [{ action: 'message' }, 'text: is required'],
    [{ action: 'message', text: '' }, 'text: must not be empty'],
    [{ action: 'message', text: 'a', messageId: '' }, 'messageId: must not be empty'],
    [
      { action: 'message', text: 'a', messageId: 'm'.repeat(129) },
      'messageId: must have at most 128 characters',
    ],
    [{ action: 'tool:approval', callId: 'c' }, 'approved: is required'],
    [
      { action: 'tool:approval', callId: 'c', approved: 'true' },
      'approved: must be true or false, not a text',
    ],
    [
      { action: 'tool:approval', callId: 'c', approved: true, remember: 'for ever' },
      'remember: use "session", or {"prefix": "words"} of at most 500 characters',
    ],
    [{ action: 'tool:approval', approved: true }, 'callId: is required'],
  ])('%j', (value, problem) => {
    expect(problemOf(value)).toBe(problem);
  });

  test('a frame that is not JSON', () => {
    expect(decodeAction('ping')).toEqual({ ok: false, problem: 'the text is not JSON' });
  });

  test('a wrong value is never repeated in the message', () => {
    expect(problemOf({ action: 'secret' })).not.toContain('secret');
    expect(problemOf({ action: 'message', text: { secret: 'secret' } })).not.toContain('secret');
    expect(problemOf({ action: 'message', text: 'a', messageId: 'secret'.repeat(30) })).not.toContain(
      'secret',
    );
  });
});

test.each(['x', '', 'A'.repeat(64), '0'.repeat(65)])(
  'a digest %j of no call is left to the decision, which is a conflict',
  (digest) => {
    const action = { action: 'tool:approval', callId: 'c', approved: true, digest, effectDigest: digest };
    expect(decode(socketAction, action)).toEqual({ ok: true, value: action });
  },
);

describe('the query of a connection', () => {
  test('may be empty, or have every field', () => {
    expect(decode(connectionQuery, {})).toEqual({ ok: true, value: {} });
    const sessionId = '0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d';
    const project = '00000000-0000-4000-8000-000000000000';
    const query = { sessionId, project, model: 'm', provider: 'demo', flavor: 'SMALL', template: 'node' };
    expect(decode(connectionQuery, { ...query, since: '-1' })).toEqual({
      ok: true,
      value: { ...query, since: -1 },
    });
  });

  test.each([
    ['since', '-2'],
    ['since', '1.5'],
    ['since', 'abc'],
    ['sessionId', 'x'],
    ['project', 'x'],
    ['flavor', 'f'.repeat(65)],
  ])('is refused with %s=%j, and the field is named', (field, value) => {
    const result = decode(connectionQuery, { [field]: value });
    expect(result).toEqual({ ok: false, problem: expect.stringMatching(new RegExp(`^${field}: `)) });
  });
});

test('a caller’s answer that is nested without limit is refused without an exception', () => {
  const answer = (levels: number) =>
    decodeAction(
      `{"action":"caller_tool:result","requestId":"r","result":${'['.repeat(levels)}${']'.repeat(levels)}}`,
    );
  expect(answer(60).ok).toBe(true);
  expect(answer(20_000)).toEqual({ ok: false, problem: 'result: is nested at most 64 times' });
});

test('arguments that are nested without end are decoded, and no stack overflows', () => {
  const depth = 100_000;
  const args = JSON.parse(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`) as object;
  expect(decode(approval, { approved: true, args }).ok).toBe(true);
});
