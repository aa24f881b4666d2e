/**
 * `POST /restore`, `POST /shared/restore`: an archive into a volume, each piece acknowledged by the runner before the next is read.
 *
 * A malformed archive is refused where it breaks; entries written by then stay, and no index of them is stored.
 * Guarantee W10 of docs/spec/sandbox.md.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { type ArchiveFrame, encodeArchiveFrame, readArchive } from '#shared/contracts/archive.ts';
import type { MissingEntry, VolumeName } from '../wire/messages.ts';
import { createArchiveCheck } from './archive-check.ts';
import { stallMsMax } from './http-messages.ts';
import { Refusal } from './refusal.ts';
import { parseMissing } from './runner-message.ts';
import { type Ask, expectAnswer, type UserSide } from './user-side.ts';

export type Restored = { readonly files: number; readonly missing: readonly MissingEntry[] };

/** Frames are sent on together from this size. */
const pieceBytesMin = 128 * 1024;

export type RestoreRequest = { readonly volume: VolumeName; readonly id: string };

export const readTransferId = (parameters: URLSearchParams): string => {
  const id = z.uuid().safeParse(parameters.get('id'));
  if (!id.success) throw new Refusal('invalid_request', 'id is a UUID');
  return id.data;
};

export const receiveRestore = async (
  userSide: UserSide,
  { volume, id: checkpoint }: RestoreRequest,
  request: IncomingMessage,
): Promise<Restored> => {
  const ask = await userSide.pin();
  const transfer = randomUUID();
  const { socket } = request;
  const drop = (): void => void socket.destroy();
  socket.setTimeout(stallMsMax, drop);
  try {
    expectAnswer(await ask({ type: 'restore-open', transfer, volume, checkpoint }), 'done');
    // A refusal in the middle of the request must still reach the client: the connection stays open.
    await passOn(request.iterator({ destroyOnReturn: false }), (piece) => writePiece(ask, transfer, piece));
    const answer = await ask({ type: 'restore-end', transfer });
    const { files } = expectAnswer(answer, 'restored');
    return { files, missing: parseMissing(answer.payload) };
  } finally {
    socket.setTimeout(0, drop);
    // A runner that does not answer any more has nothing left to close.
    await ask({ type: 'transfer-close', transfer }).catch(() => undefined);
  }
};

const writePiece = async (ask: Ask, transfer: string, piece: Buffer): Promise<void> => {
  expectAnswer(await ask({ type: 'restore-write', transfer }, piece), 'done');
};

const passOn = async (
  request: AsyncIterable<Uint8Array>,
  write: (piece: Buffer) => Promise<void>,
): Promise<void> => {
  const check = createArchiveCheck();
  let pending: Uint8Array[] = [];
  let bytes = 0;
  for await (const frame of parse(request)) {
    check.check(frame);
    const encoded = encodeArchiveFrame(frame.header, frame.payload);
    pending.push(encoded);
    bytes += encoded.length;
    if (bytes < pieceBytesMin) continue;
    await write(Buffer.concat(pending));
    pending = [];
    bytes = 0;
  }
  if (bytes > 0) await write(Buffer.concat(pending));
  if (!check.isEnded()) throw new Refusal('invalid_request', 'the archive has no end');
};

async function* parse(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ArchiveFrame> {
  try {
    yield* readArchive(chunks);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.slice(0, reasonCharactersMax) : '';
    throw new Refusal('invalid_request', `the archive is malformed: ${reason}`, { cause });
  }
}

const reasonCharactersMax = 300;
