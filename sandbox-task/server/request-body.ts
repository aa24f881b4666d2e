/** A request's body as a whole, within a bound: what is longer is refused before it is held. */
import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

export const readBody = async (request: IncomingMessage, bytesMax: number): Promise<Buffer> => {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const tooLarge = (bytesMax: number): Refusal =>
  new Refusal('payload_too_large', `the body has more than ${bytesMax} bytes`);
