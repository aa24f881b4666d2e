import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createStdioLogger } from './stdio-log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const open = (env: Readonly<Record<string, string>> = {}) => {
  const sent: string[] = [];
  return { sent, logger: createStdioLogger(env, (text) => sent.push(text)) };
};

test('lines go out in batches, and more than a batch holds is counted', () => {
  const { sent, logger } = open();
  logger.push(Buffer.from('one\ntwo\nha'));
  expect(sent).toEqual([]);
  vi.advanceTimersByTime(200);
  logger.push(Buffer.from('lf\n'));
  vi.advanceTimersByTime(200);
  expect(sent).toEqual(['one\ntwo', 'half']);
  for (let line = 0; line < 100; line += 1) logger.note('x'.repeat(3000));
  vi.advanceTimersByTime(200);
  expect(sent[2]).toBe(`${`${'x'.repeat(2000)}\n`.repeat(8)}[92 lines left out]`);
});

test('values of its environment are struck out, line by line, also where the line is cut', () => {
  const { logger } = open({
    KEY: 'first-line-of-it\nsecond-line',
    PORT: '8080',
    LONGER: 'first-line-of-it-all',
  });
  logger.note('first-line-of-it-all on 8080');
  logger.push(Buffer.from('second-line\n'));
  logger.note(`${'x'.repeat(1995)}second-line`);
  expect(logger.stderrTail()).toBe(`[hidden] on 8080\n[hidden]\n${'x'.repeat(1995)}[hidd`.slice(-2000));
});
