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
  expect(meter.reserved()).toEqual(reserved);
});

test('a try that was refused costs nothing, and its reservation is left for the next', () => {
  const meter = openCallMeter();
  meter.sent(reserved, costOf);
  meter.refused();
  expect([meter.lost(), meter.reserved()]).toEqual([{}, { usd: 0 }]);
  meter.sent(reserved, costOf);
  expect(meter.lost()).toEqual({ unsettledUsd: 1000, unsettledTokens: 400 });
});

test('what is reserved for a further try is of no call before that is sent', () => {
  const meter = openCallMeter();
  const usage = { inputTokens: 100, outputTokens: 0 };
  const known = { usage, costUsd: 100 };
  meter.sent(reserved, costOf);
  meter.reported(usage);
  meter.reservedAnew();
  expect(meter.lost()).toEqual({ known, unsettledUsd: -100, unsettledTokens: -100 });
  expect([meter.lostBefore(), meter.reserved()]).toEqual([meter.lost(), { usd: 0 }]);
  meter.sent(reserved, costOf);
  expect(meter.lost()).toEqual({ known, unsettledUsd: 900, unsettledTokens: 300 });
  meter.refused();
  expect(meter.lost()).toEqual({ known, unsettledUsd: -100, unsettledTokens: -100 });
});

test('of an answer that has ended the cost is known, and nothing unsettled', () => {
  const meter = openCallMeter();
  const usage = { inputTokens: 100, outputTokens: 5 };
  const known = { usage, costUsd: 150 };
  meter.sent(reserved, costOf);
  meter.ended(usage);
  expect([meter.lost(), meter.reserved()]).toEqual([{ known }, { usd: 150, tokens: 105 }]);
  expect(meter.lostBefore()).toEqual({});
  const lone = openCallMeter();
  lone.sent({ usd: 10 }, costOf);
  lone.ended(usage);
  expect([lone.lost(), lone.reserved()]).toEqual([{ known }, { usd: 150 }]);
});

test('an answer that ends after a try without one leaves of that the rest', () => {
  const meter = openCallMeter();
  const usage = { inputTokens: 100, outputTokens: 0 };
  meter.sent(reserved, costOf);
  meter.reported(usage);
  meter.reservedAnew();
  meter.sent(reserved, costOf);
  meter.ended(usage);
  const known = { usage: { inputTokens: 200, outputTokens: 0 }, costUsd: 200 };
  expect(meter.lost()).toEqual({ known, unsettledUsd: -100, unsettledTokens: -100 });
});

test('of an end without usage nothing is known', () => {
  const meter = openCallMeter();
  meter.sent(reserved, costOf);
  meter.ended({ inputTokens: 0, outputTokens: 0 });
  expect(meter.lost()).toEqual({ unsettledUsd: 1000, unsettledTokens: 400 });
  expect(meter.reserved()).toEqual(reserved);
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
