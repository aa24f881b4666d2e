import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LogEvent } from '#shared/domain/event-log.ts';
import type { CallId, MessageId, SessionId, TurnId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { eventFrame, isCutForSocket, unnumberedFrame } from './frames.ts';

const sessionId = '0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d' as SessionId;
const at = Date.UTC(2026, 10, 20, 12, 30, 1, 5);
const message = (text: string): LogEvent => ({
  type: 'message',
  seq: 42,
  at,
  data: { messageId: 'm-1' as MessageId, role: 'assistant', text },
});
const asked = (args: JsonObject): LogEvent => ({
  type: 'tool:call',
  seq: Number.MAX_SAFE_INTEGER,
  at,
  data: { callId: 'c-1' as CallId, name: 'shell', args },
});
const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('the frame of an event', () => {
  test('has its number and its time in ISO 8601', () => {
    expect(eventFrame(sessionId, message('hello'))).toEqual({
      type: 'message',
      sessionId: '0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d',
      seq: 42,
      at: '2026-11-20T12:30:01.005Z',
      data: { messageId: 'm-1', role: 'assistant', text: 'hello' },
    });
  });

  test('with 30 KB of data is whole; one byte more is cut, and marked', () => {
    const rest = bytes(message('').data);
    const whole = message('x'.repeat(30_720 - rest));
    expect(eventFrame(sessionId, whole).data).toEqual(whole.data);
    const cut = eventFrame(sessionId, message('x'.repeat(30_721 - rest))).data;
    expect(cut).toEqual({ messageId: 'm-1', role: 'assistant', text: 'x'.repeat(15_360), truncated: true });
  });

  test.each<[string, LogEvent]>([
    ['a text that JSON writes six times as long', message('\u0000'.repeat(40_000))],
    ['pairs', message('😀'.repeat(40_000))],
    ['lone surrogates', message('\ud83d'.repeat(40_000))],
    ['arguments of numbers', asked({ numbers: Array.from({ length: 40_000 }, (_, index) => index) })],
    [
      'arguments of many short texts',
      asked({ list: Array.from({ length: 40_000 }, () => 'a'), nested: { list: ['b'] } }),
    ],
    ['arguments with a long name', asked({ ['n'.repeat(40_000)]: 1 })],
  ])('with %s keeps its fields, says that it was cut, and passes the gateway', (_what, event) => {
    const frame = eventFrame(sessionId, event);
    expect(bytes(frame.data)).toBeLessThanOrEqual(30_720);
    expect(bytes(frame)).toBeLessThan(32 * 1024);
    expect(Object.keys(frame.data).sort()).toEqual([...Object.keys(event.data), 'truncated'].sort());
  });

  test('passes the gateway, whatever a model requests', () => {
    const args = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(args, fc.integer({ min: 1, max: 300 }), (some, times) => {
        const frame = eventFrame(
          sessionId,
          asked({ list: Array.from({ length: times }, () => some as JsonObject) }),
        );
        expect(bytes(frame)).toBeLessThan(32 * 1024);
      }),
      { numRuns: 40 },
    );
  });
});

test('a frame that is not in the log has no number', () => {
  expect(unnumberedFrame('pong', { sessionId, at, data: {} })).toEqual({
    type: 'pong',
    sessionId: '0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d',
    seq: null,
    at: '2026-11-20T12:30:01.005Z',
    data: {},
  });
});

describe('a pending call (AP5)', () => {
  const waiting = (args: JsonObject): Extract<LogEvent, { type: 'tool:approval_required' }> => ({
    ...{ seq: 7, at, type: 'tool:approval_required' },
    data: {
      ...{ turnId: 't'.repeat(36) as TurnId, callId: 'c'.repeat(256) as CallId, name: 'n'.repeat(256), args },
      ...{ digest: 'd'.repeat(64), askedAt: '2026-11-20T12:30:01.005Z', queuePosition: 1, totalInQueue: 2 },
    },
  });

  test.each<[string, JsonObject]>([
    ['one long text', { command: `echo ${'x'.repeat(40_000)}` }],
    ['nine thousand short ones', { list: Array.from({ length: 9000 }, (_, index) => `${index}`) }],
    ['nine thousand names', Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`n${index}`, 1]))],
    ['a name longer than a frame', { ['x'.repeat(60_000)]: 1 }],
    ['a field that says truncated', { truncated: 'x'.repeat(60_000) }],
  ])('with %s keeps all that tells it apart, and says that its arguments are cut', (_what, args) => {
    const event = waiting(args);
    const { data } = eventFrame(sessionId, event);
    const { args: shown, truncated, argsTruncated, ...rest } = data;
    const { args: _, ...whole } = event.data;
    expect(rest).toEqual(whole);
    expect([truncated, argsTruncated]).toEqual([true, true]);
    expect(shown).not.toEqual(args);
    expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(30_720);
    expect(isCutForSocket(event)).toBe(true);
  });

  test('that fits is unchanged', () => {
    const event = waiting({ command: 'x'.repeat(20_000) });
    expect(eventFrame(sessionId, event).data).toEqual(event.data);
    expect(isCutForSocket(event)).toBe(false);
  });
});

test('a decision with long changed arguments keeps its ids, its digests and the person', () => {
  const data = {
    ...{ turnId: 't'.repeat(36) as TurnId, callId: 'c' as CallId, name: 'n', approved: true },
    ...{ by: { kind: 'person', id: 'ada' } as const, digest: 'd'.repeat(64), editedDigest: 'e'.repeat(64) },
  };
  const editedArgs = { list: Array.from({ length: 2500 }, () => 'x'.repeat(20)) };
  const frame = eventFrame(sessionId, { type: 'tool:decided', seq: 1, at, data: { ...data, editedArgs } });
  expect(frame.data).toMatchObject({ ...data, truncated: true });
  expect(Buffer.byteLength(JSON.stringify(frame.data))).toBeLessThanOrEqual(30_720);
});
