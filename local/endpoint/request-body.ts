/**
 * A request body, read whole up to a bound.
 *
 * Over the bound the answer is `undefined` and the rest is read and dropped, so that the refusal still
 * reaches a client that only looks for it after it has sent everything.
 */
import type { IncomingMessage } from 'node:http';

export const readBody = async (request: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  return bytes <= bytesMax ? Buffer.concat(chunks) : undefined;
};
