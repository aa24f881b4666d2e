/**
 * The lines that an MCP server writes: messages on stdout, a log on stderr.
 *
 * A line over its bound is skipped and reported. A program that writes messages too fast is paused and waits at its full
 * pipe. Values are counted before the JSON is parsed: `[[],[],` is three bytes a value and many times that in memory. The log
 * goes out in bounded batches, without the values of the server's environment, since they may be secrets and a log is
 * read by many.
 */

import type { Readable } from 'node:stream';
import { firstCharacters, lastCharacters } from '#shared/domain/text.ts';
import { createLineReader } from '../../wire/lines.ts';

const windowMs = 100;
/** Ten thousand a second keep one processor a little busy. */
const messagesMax = 1000;

/** Gives what is to be called per message. */
export const createPacer = (stream: Readable): (() => void) => {
  let messages = 0;
  let isWaiting = false;
  let startedAt = 0;
  return () => {
    const now = performance.now();
    if (now - startedAt >= windowMs) {
      startedAt = now;
      messages = 0;
    }
    messages += 1;
    if (messages <= messagesMax || isWaiting) return;
    isWaiting = true;
    stream.pause();
    setTimeout(() => {
      isWaiting = false;
      stream.resume();
    }, windowMs).unref();
  };
};

export const valuesMax = 200_000;

const quote = 0x22;
const backslash = 0x5c;
const marks = new Set([...',:[{'].map((mark) => mark.charCodeAt(0)));

type BoundedJson = { readonly value: unknown } | 'no JSON' | 'too much';

export const parseBoundedJson = (bytes: Buffer): BoundedJson => {
  if (countValues(bytes) > valuesMax) return 'too much';
  try {
    return { value: JSON.parse(bytes.toString()) };
  } catch {
    return 'no JSON';
  }
};

const countValues = (bytes: Buffer): number => {
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) at = endOfString(bytes, at);
    else if (marks.has(byte)) values += 1;
  }
  return values;
};

/** The index of its closing quote: one with an even number of backslashes before it. */
const endOfString = (bytes: Buffer, start: number): number => {
  for (let at = bytes.indexOf(quote, start + 1); at >= 0; at = bytes.indexOf(quote, at + 1)) {
    let backslashes = 0;
    while (bytes[at - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return bytes.length;
};

export type StdioLogger = {
  readonly push: (chunk: Buffer) => void;
  /** A line of ours. */
  readonly note: (text: string) => void;
  readonly stderrTail: () => string;
  /** A text of its own without the values of its environment. */
  readonly redact: (text: string) => string;
  /** Sends what waits. */
  readonly flush: () => void;
};

const batchMs = 200;
const batchCharactersMax = 16 * 1024;
const lineCharactersMax = 2000;
/** A secret is looked for in all of it before it is cut. */
export const logLineBytesMax = 64 * 1024;
const lastLinesMax = 10;
const lastCharactersMax = 2000;
/** Shorter values are words like `true` and `8080`, which are no secrets. */
const secretCharactersMin = 8;

export const createStdioLogger = (
  env: Readonly<Record<string, string>>,
  send: (text: string) => void,
): StdioLogger => {
  const redact = createHider(env);
  const last: string[] = [];
  let batch: string[] = [];
  let batchCharacters = 0;
  let leftOut = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const left = leftOut === 0 ? [] : [`[${leftOut} lines left out]`];
    if (batch.length + left.length > 0) send([...batch, ...left].join('\n'));
    batch = [];
    batchCharacters = 0;
    leftOut = 0;
  };
  const note = (text: string): void => {
    const line = firstCharacters(redact(text), lineCharactersMax);
    keepLast(last, line);
    if (batchCharacters + line.length > batchCharactersMax) leftOut += 1;
    else {
      batch.push(line);
      batchCharacters += line.length + 1;
    }
    timer ??= setTimeout(flush, batchMs).unref();
  };
  const reader = createLineReader({
    bytesMax: logLineBytesMax,
    onLine: (line) => note(line.toString()),
    onOverlong: () => note(`[a line over ${logLineBytesMax} bytes left out]`),
  });
  return {
    push: reader.push,
    note,
    stderrTail: () => lastCharacters(fromItsCause(last).join('\n'), lastCharactersMax),
    redact,
    flush,
  };
};

const isFrame = (line: string | undefined): boolean => /^\s+at /.test(line ?? '');

/** The cause stands above the frames of a stack (Node), of which the first says enough: the log has all of them. */
const keepLast = (last: string[], line: string): void => {
  if (isFrame(line) && isFrame(last.at(-1))) return;
  last.push(line);
  if (last.length > lastLinesMax) last.shift();
};

/** Without what Node prints above the cause: the source of its own that threw. */
const fromItsCause = (last: readonly string[]): readonly string[] => {
  const frame = last.findLastIndex(isFrame);
  return frame < 1 ? last : last.slice(frame - 1);
};

/** A value of many lines shows line by line. The longest first: one may be part of another. */
const createHider = (env: Readonly<Record<string, string>>): ((text: string) => string) => {
  const secrets = Object.values(env)
    .flatMap((value) => [value, ...value.split('\n')])
    .filter((value) => value.length >= secretCharactersMin)
    .toSorted((one, other) => other.length - one.length);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text);
};
