/**
 * Text that arrives in numbered pieces: a piece may come twice, early or never.
 *
 * Pure. What is shown is the part without a hole; the whole text comes later by another way and replaces it.
 */

/**
 * @typedef {{ readonly offset: number, readonly text: string }} Piece
 * @typedef {{ readonly text: string, readonly early: readonly Piece[] }} TextStream
 */

/** @type {TextStream} */
export const emptyStream = { text: '', early: [] };

/**
 * @param {TextStream} stream
 * @param {Piece} piece its offset counts characters
 * @returns {TextStream}
 */
export const addPiece = ({ text, early }, piece) => {
  const pieces = [...early, piece].toSorted((a, b) => a.offset - b.offset);
  let whole = text;
  /** @type {Piece[]} */
  const left = [];
  for (const next of pieces) {
    if (next.offset > whole.length) left.push(next);
    else whole += next.text.slice(whole.length - next.offset);
  }
  return { text: whole, early: left };
};

/**
 * @typedef {{ readonly stream: 'stdout' | 'stderr', readonly text: string }} OutputChunk
 * @typedef {{
 *   readonly chunks: readonly OutputChunk[],
 *   readonly bytes: Readonly<Record<'stdout' | 'stderr', number>>,
 * }} LiveOutput
 */

/** @type {LiveOutput} */
export const emptyOutput = { chunks: [], bytes: { stdout: 0, stderr: 0 } };

const encoder = new TextEncoder();

/**
 * Output of a running program: two streams in the order of arrival. Only the newest is sent when there is much,
 * so a hole is marked and never waited for.
 * @param {LiveOutput} output
 * @param {Piece & { readonly stream: 'stdout' | 'stderr' }} piece its offset counts bytes
 * @returns {LiveOutput}
 */
export const addOutput = (output, { stream, offset, text }) => {
  const seen = output.bytes[stream];
  if (offset < seen) return output;
  const shown = offset > seen ? `\n[…]\n${text}` : text;
  const last = output.chunks.at(-1);
  const chunks =
    last?.stream === stream
      ? [...output.chunks.slice(0, -1), { stream, text: last.text + shown }]
      : [...output.chunks, { stream, text: shown }];
  return { chunks, bytes: { ...output.bytes, [stream]: offset + encoder.encode(text).length } };
};
