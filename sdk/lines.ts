/**
 * Lines of bytes that come in pieces, as files of JSON lines hold them. A line feed alone ends one: a text in JSON may have the other
 * line ends of Unicode as they are, at which the reader of lines of Node divides.
 */
export async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
