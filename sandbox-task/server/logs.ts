/**
 * The two logs of the server: the ring, with the newest stderr lines of user programs and the reasons of killed calls;
 * and its own log, one JSON object a line on stderr, which never holds output of user code or a token.
 *
 * The ring lives in memory within a bound of lines and bytes; the caller fetches lines by number and stores them. A long
 * line is cut and marked.
 */

import { unsureBytesOf } from '#shared/domain/output-offset.ts';
import { firstCharacters } from '#shared/domain/text.ts';

type LogLine = {
  /** From 1, without gaps until the oldest are dropped. */
  readonly number: number;
  readonly at: number;
  readonly stream: 'stderr' | 'lifecycle';
  readonly text: string;
};

export type LogRing = {
  readonly add: (stream: LogLine['stream'], text: string) => void;
  /** Those with a higher number, oldest first, as many as fit into one answer. */
  readonly after: (number: number) => readonly LogLine[];
  /** The number of the newest; 0 before the first. */
  readonly last: () => number;
};

type LogBounds = { readonly linesMax: number; readonly bytesMax: number };

const lineCharactersMax = 2000;
const cutMark = '... (truncated)';

export const createLogRing = ({ linesMax, bytesMax }: LogBounds, now = Date.now): LogRing => {
  const lines: { readonly line: LogLine; readonly bytes: number }[] = [];
  let bytes = envelopeBytes;
  let last = 0;
  return {
    add(stream, text) {
      last += 1;
      const line = { number: last, at: now(), stream, text: cut(text) };
      // As it is sent: a control character has six bytes there.
      const entry = { line, bytes: Buffer.byteLength(JSON.stringify(line)) + 1 };
      lines.push(entry);
      bytes += entry.bytes;
      while (lines.length > linesMax || bytes > bytesMax) bytes -= lines.shift()?.bytes ?? 0;
    },
    after: (number) => lines.filter(({ line }) => line.number > number).map(({ line }) => line),
    last: () => last,
  };
};

/** Of the answer around its lines, each of which counts with a comma. */
const envelopeBytes = Buffer.byteLength(JSON.stringify({ lines: [] }));

const cut = (text: string): string =>
  text.length <= lineCharactersMax ? text : `${firstCharacters(text, lineCharactersMax)}${cutMark}`;

type LineSplitter = {
  readonly push: (piece: { readonly offset: number; readonly text: string }) => void;
  /** A last line without its end is a line too. */
  readonly end: () => void;
};

/** Lines of one stream; where bytes were left out a line ends. */
export const createLineSplitter = (onLine: (line: string) => void): LineSplitter => {
  let open = '';
  let expectedOffset = 0;
  /** The last piece may have ended so much sooner. */
  let unsureBytes = 0;
  const close = (): void => {
    onLine(open);
    open = '';
  };
  const end = (): void => {
    if (open !== '') close();
  };
  return {
    push({ offset, text }) {
      if (offset > expectedOffset || offset < expectedOffset - unsureBytes) end();
      expectedOffset = offset + Buffer.byteLength(text);
      unsureBytes = unsureBytesOf(text);
      const [first = '', ...rest] = text.split('\n');
      open = grow(open, first);
      for (const next of rest) {
        close();
        open = grow('', next);
      }
    },
    end,
  };
};

/** One character over the bound, so that the cut is visible. */
const grow = (open: string, text: string): string => `${open}${text}`.slice(0, lineCharactersMax + 1);

type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;
export type Log = {
  readonly info: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
};

export const createLog = (write: (line: string) => void): Log => {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      write(`${JSON.stringify({ at: new Date().toISOString(), level, message, ...fields })}\n`);
  return { info: at('info'), warn: at('warn') };
};
