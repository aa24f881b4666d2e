import { expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, MessageId } from '#shared/domain/ids.ts';
import { echoOf, hasEchoes, type Maker, replayOf } from './echo.ts';

const maker: Maker = { provider: 'gemini', model: 'm', alone: false };
const mark = { thoughtSignature: 's' };
const calls = ['c1', 'c2'].map((callId) => ({ callId: callId as CallId, name: 'read', args: {} }));
const said = (text: string, echo: object) =>
  ({ role: 'assistant', messageId: 'a' as MessageId, text, calls, ...echo }) as HistoryMessage & {
    role: 'assistant';
  };
const user: HistoryMessage = { role: 'user', messageId: 'm' as MessageId, text: 'hi' };

test('an answer of plain text and calls echoes nothing', () => {
  expect(echoOf(maker, [])).toEqual({});
  expect(echoOf(maker, [{ text: 3 }, { call: true }])).toEqual({});
});

test('plain texts are one, marked ones stay apart', () => {
  expect(echoOf(maker, [{ text: 2 }, { text: 3 }, { text: 0, mark }, { text: 1 }, { call: true }])).toEqual({
    echo: { ...maker, parts: [{ text: 5 }, { text: 0, mark }, { text: 1 }, { call: true }] },
  });
});

test('an echo that is too long to be stored is left out', () => {
  const own = (bytes: number) => [{ own: { data: 'x'.repeat(bytes) } }];
  expect(echoOf(maker, own(65_000))).toHaveProperty('echo');
  expect(echoOf(maker, own(65_536))).toEqual({});
});

test('an answer is put together again, without calls that were not taken', () => {
  const echo = echoOf(maker, [
    { own: { thinking: 1 } },
    { text: 2 },
    { call: true, mark },
    { text: 1 },
    { call: true },
    { call: true },
  ]);
  const message = said('abc', echo);
  expect(replayOf([user, message], maker)(message)).toEqual([
    { kind: 'own', block: { thinking: 1 } },
    { kind: 'text', text: 'ab' },
    { kind: 'call', call: calls[0], mark },
    { kind: 'text', text: 'c' },
    { kind: 'call', call: calls[1] },
  ]);
  expect(replayOf([user, message], undefined)(message)).toEqual([
    { kind: 'text', text: 'abc' },
    { kind: 'call', call: calls[0] },
    { kind: 'call', call: calls[1] },
  ]);
});

test('what stands alone ends what came before it', () => {
  const parts = [{ own: { thinking: 1 } }, { call: true }, { call: true }] as const;
  const before = said('', echoOf(maker, parts));
  const alone = said('', echoOf({ ...maker, alone: true }, parts));
  const replay = replayOf([user, before, alone], maker);
  expect(replay(before).map(({ kind }) => kind)).toEqual(['call', 'call']);
  expect(replay(alone).map(({ kind }) => kind)).toEqual(['own', 'call', 'call']);
});

test('an exchange has echoes when one of its answers has', () => {
  const echoing = said('', echoOf(maker, [{ own: { thinking: 1 } }]));
  expect(hasEchoes([user, echoing])).toBe(true);
  expect(hasEchoes([user, echoing, user])).toBe(false);
  expect(hasEchoes([user, said('', {})])).toBe(false);
  expect(hasEchoes([])).toBe(false);
});
