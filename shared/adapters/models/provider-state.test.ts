import { expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, MessageId } from '#shared/domain/ids.ts';
import { hasProviderState, type ModelRef, providerStateOf, replayOf } from './provider-state.ts';

const modelRef: ModelRef = { provider: 'gemini', model: 'm', withoutHistory: false };
const mark = { thoughtSignature: 's' };
const calls = ['c1', 'c2'].map((callId) => ({ callId: callId as CallId, name: 'read', args: {} }));
const said = (text: string, providerState: object) =>
  ({ role: 'assistant', messageId: 'a' as MessageId, text, calls, ...providerState }) as HistoryMessage & {
    role: 'assistant';
  };
const user: HistoryMessage = { role: 'user', messageId: 'm' as MessageId, text: 'hi' };

test('an answer of plain text and calls has no provider state', () => {
  expect(providerStateOf(modelRef, [])).toEqual({});
  expect(providerStateOf(modelRef, [{ text: 3 }, { call: true }])).toEqual({});
});

test('plain texts are joined, marked ones stay separate', () => {
  expect(
    providerStateOf(modelRef, [{ text: 2 }, { text: 3 }, { text: 0, mark }, { text: 1 }, { call: true }]),
  ).toEqual({
    providerState: { ...modelRef, parts: [{ text: 5 }, { text: 0, mark }, { text: 1 }, { call: true }] },
  });
});

test('a provider state that is too long to be stored is left out', () => {
  const own = (bytes: number) => [{ own: { data: 'x'.repeat(bytes) } }];
  expect(providerStateOf(modelRef, own(65_000))).toHaveProperty('providerState');
  expect(providerStateOf(modelRef, own(65_536))).toEqual({});
});

test('an answer is rebuilt without calls that were left out', () => {
  const providerState = providerStateOf(modelRef, [
    { own: { thinking: 1 } },
    { text: 2 },
    { call: true, mark },
    { text: 1 },
    { call: true },
    { call: true },
  ]);
  const message = said('abc', providerState);
  expect(replayOf([user, message], modelRef)(message)).toEqual([
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

test('a standalone answer ends the exchange before it', () => {
  const parts = [{ own: { thinking: 1 } }, { call: true }, { call: true }] as const;
  const before = said('', providerStateOf(modelRef, parts));
  const withoutHistory = said('', providerStateOf({ ...modelRef, withoutHistory: true }, parts));
  const replay = replayOf([user, before, withoutHistory], modelRef);
  expect(replay(before).map(({ kind }) => kind)).toEqual(['call', 'call']);
  expect(replay(withoutHistory).map(({ kind }) => kind)).toEqual(['own', 'call', 'call']);
});

test('an exchange has provider state when one of its answers has', () => {
  const withState = said('', providerStateOf(modelRef, [{ own: { thinking: 1 } }]));
  expect(hasProviderState([user, withState])).toBe(true);
  expect(hasProviderState([user, withState, user])).toBe(false);
  expect(hasProviderState([user, said('', {})])).toBe(false);
  expect(hasProviderState([])).toBe(false);
});
