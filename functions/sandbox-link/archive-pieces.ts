/** Bytes in pieces that fit into one frame of an archive. */
import { archivePieceBytesMax } from '#shared/contracts/archive.ts';

export async function* inPieces(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += archivePieceBytesMax)
      yield chunk.subarray(at, at + archivePieceBytesMax);
}
