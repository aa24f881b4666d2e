/** The newest megabyte of a process's output, each byte of its own stream, however the streams alternate. */
import { expect, test } from 'vitest';
import type { ProcessStream } from '../../wire/process-messages.ts';
import { createProcessLog, type ProcessLog } from './process-log.ts';

const keptBytes = 1_048_576;

/** All that can be read, in pieces of at most so many bytes. */
const readAll = (log: ProcessLog, bytesMax: number): ReadonlyMap<ProcessStream, string> => {
  const texts = new Map<ProcessStream, string[]>();
  const { from, to } = log.bounds();
  for (let at = from; at < to; ) {
    const piece = log.read(at, bytesMax);
    if (piece === undefined) throw new Error(`nothing at ${at}`);
    texts.set(piece.stream, texts.get(piece.stream) ?? []);
    texts.get(piece.stream)?.push(piece.bytes.toString());
    at += piece.bytes.length;
  }
  return new Map([...texts].map(([stream, parts]) => [stream, parts.join('')]));
};

/** Writes chunks of these lengths in turn to both streams: letters to stdout, digits to stderr. */
const fill = (lengths: readonly number[], bytes: number) => {
  const log = createProcessLog();
  const whole = Buffer.alloc(bytes);
  for (let at = 0, turn = 0; at < bytes; turn += 1) {
    const isError = turn % 2 === 1;
    const chunk = whole.subarray(at, at + (lengths[turn % lengths.length] ?? 1));
    for (let index = 0; index < chunk.length; index += 1)
      chunk[index] = isError ? 48 + ((at + index) % 10) : 97 + ((at + index) % 26);
    log.append(isError ? 'stderr' : 'stdout', chunk);
    at += chunk.length;
  }
  return { log, whole };
};

test.each<[string, readonly number[]]>([
  ['by byte', [1]],
  ['by short lines', [9, 2, 5]],
  ['by lines', [80, 31]],
  ['rarely', [300_000, 7]],
  ['with chunks longer than what is kept', [1_060_000, 3]],
])('the last megabyte is kept when the streams alternate %s', (_, lengths) => {
  const { log, whole } = fill(lengths, 1_100_000);
  const newest = whole.subarray(-keptBytes).toString();
  const expected = new Map([
    ['stdout', newest.replace(/\d/g, '')],
    ['stderr', newest.replace(/\D/g, '')],
  ]);
  log.close();
  expect(log.bounds()).toEqual({ from: whole.length - keptBytes, to: whole.length });
  for (const [stream, text] of readAll(log, 32 * 1024)) expect(text === expected.get(stream)).toBe(true);
});

test('a short log is kept whole, also in the smaller memory that it has after its end', () => {
  const { log, whole } = fill([5, 1], 10_001);
  const before = log.bytesHeld();
  log.close();
  expect(log.bytesHeld()).toBeLessThan(before);
  expect(log.bounds()).toEqual({ from: 0, to: whole.length });
  const texts = readAll(log, 777);
  expect(texts.get('stdout')).toBe(whole.toString().replace(/\d/g, ''));
  expect(texts.get('stderr')).toBe(whole.toString().replace(/\D/g, ''));
});

test('all memory that a log holds is counted, that which tells the streams apart as well', () => {
  const { log } = fill([80, 31], 1_200_000);
  expect(log.bytesHeld()).toBe(keptBytes + keptBytes / 8);
});

test('a character is shown once it is whole, or when no more of it can follow', () => {
  const log = createProcessLog();
  const euro = Buffer.from('€');
  log.append('stdout', Buffer.concat([Buffer.from('a'), euro.subarray(0, 2)]));
  expect(log.read(0, 100)?.bytes.toString()).toBe('a');
  log.append('stderr', Buffer.from('b'));
  expect(log.read(0, 100)?.bytes).toEqual(Buffer.concat([Buffer.from('a'), euro.subarray(0, 2)]));
  expect(log.read(3, 100)).toMatchObject({ stream: 'stderr', offset: 3 });
  log.append('stdout', euro.subarray(0, 2));
  expect(log.read(4, 100)).toBeUndefined();
  log.close();
  expect(log.read(4, 100)?.bytes).toEqual(euro.subarray(0, 2));
});

test('a terminal has one stream of its own', () => {
  const log = createProcessLog();
  log.append('pty', Buffer.from('$ '));
  expect(log.read(0, 100)).toMatchObject({ stream: 'pty', offset: 0 });
});
