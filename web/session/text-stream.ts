/**
 * Text that arrives in pieces with offsets: a piece may come twice, early or never.
 *
 * Pure. The part before the first gap is shown; the complete text replaces it later.
 */

import { unsureBytesOf } from '#shared/domain/output-offset.ts';

/**
 * Runs of a text without a space. In a font with kerning a browser shapes the rest of a long run again for each line that it
 * breaks: 50 KB of base64 took seconds. Each character is read once, also of a text that grows.
 */
type Runs = {
  /** Characters since the last space. */
  readonly last: number;
  readonly hasLong: boolean;
};

const runCharactersMax = 500;

export const noRuns: Runs = { last: 0, hasLong: false };

/** With the text that follows. */
export const addRuns = (runs: Runs, text: string): Runs => {
  if (runs.hasLong) return runs;
  const [first = '', ...others] = text.split(/\s/);
  const lengths = [runs.last + first.length, ...others.map(({ length }) => length)];
  return { last: lengths.at(-1) ?? 0, hasLong: lengths.some((length) => length > runCharactersMax) };
};

export type Piece = { readonly offset: number; readonly text: string };
export type TextStream = { readonly text: string; readonly early: readonly Piece[]; readonly runs: Runs };

export const emptyStream: TextStream = { text: '', early: [], runs: noRuns };

/** Offsets count characters. */
export const addPiece = ({ text, early, runs }: TextStream, piece: Piece): TextStream => {
  const pieces = [...early, piece].toSorted((a, b) => a.offset - b.offset);
  let whole = text;
  const left: Piece[] = [];
  for (const next of pieces) {
    if (next.offset > whole.length) left.push(next);
    else whole += next.text.slice(whole.length - next.offset);
  }
  return { text: whole, early: left, runs: addRuns(runs, whole.slice(text.length)) };
};

type OutputStream = 'stdout' | 'stderr';
type OutputChunk = { readonly stream: OutputStream; readonly text: string };
export type LiveOutput = {
  readonly chunks: readonly OutputChunk[];
  /** Where the next piece is expected. */
  readonly bytes: Readonly<Record<OutputStream, number>>;
  /** The last piece may have ended so much sooner (`unsureBytesOf`). */
  readonly unsure?: Readonly<Partial<Record<OutputStream, number>>>;
};

export const emptyOutput: LiveOutput = { chunks: [], bytes: { stdout: 0, stderr: 0 } };

/** Only the end of a running program's output is stored. */
const liveCharactersMax = 128 * 1024;
const chunkCharactersMax = 16 * 1024;
const encoder = new TextEncoder();

/**
 * Output of a running program: two streams in the order of arrival; offsets count bytes. The server may skip output when
 * there is much, so a gap is marked and never waited for.
 */
export const addOutput = (
  output: LiveOutput,
  { stream, offset, text }: Piece & { readonly stream: OutputStream },
): LiveOutput => {
  const seen = output.bytes[stream];
  if (offset < seen - (output.unsure?.[stream] ?? 0)) return output;
  const shown = offset > seen ? `\n[…]\n${text}` : text;
  const last = output.chunks.at(-1);
  // A long chunk is not extended, so that it is not rendered again.
  const joins = last?.stream === stream && last.text.length < chunkCharactersMax;
  const chunks = joins
    ? [...output.chunks.slice(0, -1), { stream, text: last.text + shown }]
    : [...output.chunks, { stream, text: shown }];
  return {
    chunks: keepEnd(chunks),
    bytes: { ...output.bytes, [stream]: offset + encoder.encode(text).length },
    unsure: { ...output.unsure, [stream]: unsureBytesOf(text) },
  };
};

/** The end of the output, as it is stored of a running program. */
export const keepEnd = (
  chunks: readonly OutputChunk[],
  charactersMax = liveCharactersMax,
): readonly OutputChunk[] => {
  let left = charactersMax;
  const tail: OutputChunk[] = [];
  for (const chunk of chunks.toReversed()) {
    if (left <= 0) break;
    tail.push(chunk.text.length > left ? { ...chunk, text: chunk.text.slice(-left) } : chunk);
    left -= chunk.text.length;
  }
  return tail.length === chunks.length && left >= 0 ? chunks : tail.toReversed();
};

/** An item of the conversation. */
type Readable = {
  readonly kind: string;
  readonly text?: string;
  readonly message?: string;
  readonly stream?: { readonly runs: Runs } | null;
};

const known = new WeakMap<Readable, boolean>();

export const hasLongRun = (item: Readable): boolean => {
  if (item.stream) return item.stream.runs.hasLong;
  const before = known.get(item);
  if (before !== undefined) return before;
  const { hasLong } = addRuns(noRuns, item.text ?? item.message ?? '');
  known.set(item, hasLong);
  return hasLong;
};
