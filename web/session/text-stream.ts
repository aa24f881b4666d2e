/**
 * Text that arrives in pieces with offsets: a piece may come twice, early or never.
 *
 * Pure. The part before the first gap is shown; the complete text replaces it later.
 */
import { addRuns, noRuns, type Runs } from './long-runs.ts';

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
  readonly bytes: Readonly<Record<OutputStream, number>>;
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
  if (offset < seen) return output;
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
  };
};

const keepEnd = (chunks: readonly OutputChunk[]): readonly OutputChunk[] => {
  let left = liveCharactersMax;
  const tail: OutputChunk[] = [];
  for (const chunk of chunks.toReversed()) {
    if (left <= 0) break;
    tail.push(chunk.text.length > left ? { ...chunk, text: chunk.text.slice(-left) } : chunk);
    left -= chunk.text.length;
  }
  return tail.length === chunks.length && left >= 0 ? chunks : tail.toReversed();
};
