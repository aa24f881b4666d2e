import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { droppedByTruncation, estimateTokens, type HistoryMessage, halved } from './history.ts';
import type { CallId, MessageId } from './ids.ts';

const messageId = 'm' as MessageId;
const user = (text: string): HistoryMessage => ({ role: 'user', messageId, text });
const answer = (text: string, ...callIds: string[]): HistoryMessage => ({
  role: 'assistant',
  messageId,
  text,
  calls: callIds.map((callId) => ({ callId: callId as CallId, name: 'shell', args: {} })),
});
const result = (callId: string, text = 'out'): HistoryMessage => ({
  role: 'tool',
  callId: callId as CallId,
  name: 'shell',
  text,
  outcome: 'completed',
});

test('four characters are one token, rounded up, and the arguments of calls count', () => {
  expect(estimateTokens(user('12345678'))).toBe(2);
  expect(estimateTokens(user('123456789'))).toBe(3);
  expect(estimateTokens(result('c1', ''))).toBe(0);
  expect(estimateTokens(answer('', 'c1'))).toBe(11);
});

describe('truncation', () => {
  const history = [user('one'), answer('', 'c1'), result('c1'), answer('1'), user('two'), answer('2')];
  const roomy = { tokensMax: 1000, messagesMax: 1000 };

  test('a short history stays whole', () => {
    expect(droppedByTruncation(history, roomy)).toBe(0);
    expect(droppedByTruncation([], roomy)).toBe(0);
  });

  test('too many messages drop the oldest exchange with its calls and results', () => {
    expect(droppedByTruncation(history, { ...roomy, messagesMax: 6 })).toBe(0);
    expect(droppedByTruncation(history, { ...roomy, messagesMax: 5 })).toBe(4);
  });

  test('too many tokens drop the oldest exchange', () => {
    const long = [user('x'.repeat(400)), answer('1'), user('y'.repeat(40)), answer('2')];
    expect(droppedByTruncation(long, { ...roomy, tokensMax: 111 })).toBe(2);
    expect(droppedByTruncation(long, { ...roomy, tokensMax: 112 })).toBe(0);
  });

  test('the newest exchange stays even when it alone does not fit', () => {
    expect(droppedByTruncation(history, { tokensMax: 0, messagesMax: 0 })).toBe(4);
  });

  test('what is not written yet stays, with the exchange that it goes on with', () => {
    const lost = user('files were lost');
    const written = [...history, user('more'), answer('', 'c2')];
    const all = [...written, result('c2'), answer('done'), lost];
    expect(droppedByTruncation(all, { tokensMax: 0, messagesMax: 0 })).toBe(all.indexOf(lost));
    expect(droppedByTruncation(all, { tokensMax: 0, messagesMax: 0 }, written.length)).toBe(history.length);
    expect(droppedByTruncation([...written, lost], { tokensMax: 0, messagesMax: 0 }, written.length)).toBe(
      written.length,
    );
  });

  test('messages before the first user message are dropped before a whole exchange', () => {
    expect(droppedByTruncation([result('c0'), ...history], { ...roomy, messagesMax: 6 })).toBe(1);
    expect(droppedByTruncation([result('c0')], { tokensMax: 0, messagesMax: 0 })).toBe(0);
  });
});

describe('halving', () => {
  const one = [user('one'), answer('', 'c1'), result('c1'), answer('1')];
  const two = [user('two'), answer('2')];
  const three = [user('three'), answer('3')];

  test('drops the older half of the exchanges', () => {
    expect(halved([...one, ...two])).toEqual(two);
    expect(halved([...one, ...two, ...three])).toEqual([...two, ...three]);
    expect(halved([...one, ...two, ...three, ...one])).toEqual([...three, ...one]);
  });

  test('keeps a single exchange, and messages without a user message', () => {
    expect(halved(one)).toEqual(one);
    expect(halved([])).toEqual([]);
    expect(halved([result('c0')])).toEqual([result('c0')]);
  });
});

const exchange = fc
  .tuple(fc.string(), fc.array(fc.string(), { maxLength: 3 }))
  .map(([question, outputs]): readonly HistoryMessage[] => [
    user(question),
    answer('', ...outputs.map((_, index) => `c${index}`)),
    ...outputs.map((text, index) => result(`c${index}`, text)),
    answer('done'),
  ]);

test('a truncated history begins with a question, and drops no more than necessary', () => {
  const limits = fc.record({ tokensMax: fc.nat({ max: 60 }), messagesMax: fc.nat({ max: 20 }) });
  fc.assert(
    fc.property(
      fc.array(exchange, { minLength: 1, maxLength: 6 }),
      limits,
      (exchanges, { tokensMax, messagesMax }) => {
        const history = exchanges.flat();
        const fits = (messages: readonly HistoryMessage[]): boolean =>
          messages.length <= messagesMax &&
          messages.map(estimateTokens).reduce((sum, tokens) => sum + tokens, 0) <= tokensMax;
        const kept = history.slice(droppedByTruncation(history, { tokensMax, messagesMax }));
        const suffixes = exchanges.map((_, index) => exchanges.slice(index).flat());
        expect(kept).toEqual(suffixes.find(fits) ?? exchanges.at(-1));
      },
    ),
  );
});

test('a halved conversation begins with a question, keeps the newest exchange, and gets shorter if it can', () => {
  fc.assert(
    fc.property(fc.array(exchange, { minLength: 1, maxLength: 6 }), (exchanges) => {
      const kept = halved(exchanges.flat());
      expect(kept[0]?.role).toBe('user');
      expect(kept.slice(-(exchanges.at(-1)?.length ?? 0))).toEqual(exchanges.at(-1));
      expect(kept.length < exchanges.flat().length).toBe(exchanges.length > 1);
    }),
  );
});
