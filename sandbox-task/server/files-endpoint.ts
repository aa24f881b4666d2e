/**
 * The files endpoint: a file's bytes as a stream, or one folder's list.
 *
 * A piece is fetched from the runner when the last one has gone out, so a large file costs one piece of
 * memory. A file that changes length on the way breaks the response off rather than lie about it.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Refusal } from './refusal.ts';
import type { UserSide } from './user-side.ts';

const pieceBytesMax = 256 * 1024;

export const listFiles = async (
  userSide: UserSide,
  path: string,
  response: ServerResponse,
): Promise<void> => {
  const files = await userSide.listFolder(path);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ files }));
};

export const sendFile = async (userSide: UserSide, path: string, response: ServerResponse): Promise<void> => {
  const first = await userSide.readChunk(path, 0, pieceBytesMax);
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': first.size });
  let { bytes } = first;
  let sent = 0;
  for (;;) {
    sent += bytes.length;
    if (!response.write(bytes)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    if (sent >= first.size || response.destroyed) break;
    ({ bytes } = await userSide.readChunk(path, sent, Math.min(pieceBytesMax, first.size - sent)));
    if (bytes.length === 0) throw new Refusal('internal_error', `${path} became shorter while it was read`);
  }
  response.end();
};
