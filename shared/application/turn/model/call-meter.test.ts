/** The meter of a model call: what is known of tries without an answer, and what stays unsettled beside it. */
import { expect, test } from 'vitest';
import type { TokenUsage } from '../../../domain/model.ts';
import { openCallMeter } from './call-meter.ts';

const costOf = ({ inputTokens, outputTokens }: TokenUsage): number => inputTokens + 10 * outputTokens;
const reserved = { usd: 1000, tokens: 400 };

test('before anything is sent nothing is lost', () => {
  const meter = openCallMeter();
  expect([meter.lost(), meter.lostBefore(), meter.reserved()]).toEqual([{}, {}, { usd: 0 }]);
});

test('a call whose provider has reported nothing is unsettled as a whole', () => {
  const meter = openCallMeter();
  meter.sent(reserved, costOf);
  expect(meter.lost()).toEqual({ unsettledUsd: 1000, unsettledTokens: 400 });
  meter.reported({ inputTokens: 0, outputTokens: 0 });
  expect(meter.lost()).toEqual({ unsettledUsd: 1000, unsettledTokens: 400 });
  expect(meter.lost({ isCharged: false })).toEqual({});
});

test('what was reported last is known, and the rest is unsettled', () => {
  const meter = openCallMeter();
  meter.sent(reserved, costOf);
  meter.reported({ inputTokens: 100, outputTokens: 1 });
  const usage = { inputTokens: 100, outputTokens: 5 };
  meter.reported(usage);
  expect(meter.lost()).toEqual({ known: { usage, costUsd: 150 }, unsettledUsd: 850, unsettledTokens: 295 });
});

test('of more than was reserved nothing is unsettled', () => {
  const meter = openCallMeter();
  meter.sent(reserved, costOf);
  const usage = { inputTokens: 5000, outputTokens: 0 };
  meter.reported(usage);
  expect(meter.lost()).toEqual({ known: { usage, costUsd: 5000 } });
});

test('without a tree what was reported is known, and nothing unsettled', () => {
  const meter = openCallMeter();
  meter.sent({ usd: 0 }, costOf);
  const usage = { inputTokens: 1, outputTokens: 1 };
  meter.reported(usage);
  expect(meter.lost()).toEqual({ known: { usage, costUsd: 11 } });
});

test('each try has its own reservation: known parts of the earlier ones are taken from what is unsettled', () => {
  const meter = openCallMeter();
  const usage = { inputTokens: 100, outputTokens: 0 };
  for (const _try of ['first', 'second', 'third']) {
    meter.sent(reserved, costOf);
    meter.reported(usage);
  }
  const twice = { usage: { inputTokens: 200, outputTokens: 0 }, costUsd: 200 };
  expect(meter.lostBefore()).toEqual({ known: twice, unsettledUsd: -200, unsettledTokens: -200 });
  const thrice = { usage: { inputTokens: 300, outputTokens: 0 }, costUsd: 300 };
  expect(meter.lost()).toEqual({ known: thrice, unsettledUsd: 700, unsettledTokens: 100 });
});
