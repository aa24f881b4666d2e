import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createStdioLogger, parseBoundedJson } from './server-lines.ts';

const parse = (text: string) => parseBoundedJson(Buffer.from(text));

test('values are counted, except inside strings', () => {
  expect(parse(`[${'[],'.repeat(99_998)}[]]`)).toMatchObject({ value: expect.any(Array) });
  expect(parse(`[${'[],'.repeat(100_000)}[]]`)).toBe('too much');
  expect(parse(`{"a":"${'[{,:'.repeat(100_000)}"}`)).toEqual({ value: { a: '[{,:'.repeat(100_000) } });
});

test('an escaped quote does not end a string', () => {
  const commas = ','.repeat(300_000);
  expect(parse(`["\\"${commas}"]`)).toMatchObject({ value: [`"${commas}`] });
  expect(parse(`["\\\\",${'1,'.repeat(200_000)}1]`)).toBe('too much');
});

test('text that is not JSON is recognized', () => {
  for (const text of ['', 'hello', '{"half": ', '"open']) expect(parse(text)).toBe('no JSON');
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const open = (env: Readonly<Record<string, string>> = {}) => {
  const sent: string[] = [];
  return { sent, logger: createStdioLogger(env, (text) => sent.push(text)) };
};

test('lines are sent in batches, and lines over the batch limit are counted', () => {
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

test('values of its environment are removed, line by line, also where the line is cut', () => {
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

test('the last words of a program that threw begin with the cause, however long its stack is', () => {
  const { logger } = open();
  const cause =
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'left-pad' imported from /workspace/server.mjs";
  const frames = Array.from(
    { length: 20 },
    (_, index) => `    at step${index} (node:internal/modules:${index})`,
  );
  const above = [
    'starting',
    'node:internal/modules/package_json_reader:314',
    '  throw new ERR;',
    '        ^',
    '',
  ];
  for (const line of [...above, cause, ...frames, "  code: 'ERR_MODULE_NOT_FOUND'", '}', '', 'Node.js v24'])
    logger.note(line);
  expect(logger.stderrTail()).toBe(
    [cause, frames[0], "  code: 'ERR_MODULE_NOT_FOUND'", '}', '', 'Node.js v24'].join('\n'),
  );
});
