/**
 * `GET /checkpoint`, `GET /shared/checkpoint`: a volume as an archive, each piece fetched from the runner while the previous one is sent.
 *
 * Frames of the runner are checked one by one and passed on unchanged; a forged frame, or a runner that ends,
 * breaks the response off before its `end`. Guarantees W9 and W10 of docs/spec/sandbox.md.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import { isPlainPath, readArchive } from '#shared/contracts/archive.ts';
import type { VolumeName } from '../wire/messages.ts';

import { type ArchiveCheck, createArchiveCheck } from './archive-check.ts';
import { endPaced, writePaced } from './http-messages.ts';
import { Refusal } from './refusal.ts';
import type { Answer } from './runner-process.ts';
import { expectAnswer, type UserSide } from './user-side.ts';

const query = z.object({ id: z.uuid(), base: z.union([z.uuid(), z.literal('')]) });
export type CheckpointRequest = z.output<typeof query> & { readonly volume: VolumeName };

export const readCheckpointRequest = (volume: VolumeName, parameters: URLSearchParams): CheckpointRequest => {
  const request = query.safeParse({ id: parameters.get('id'), base: parameters.get('base') ?? '' });
  if (!request.success) throw new Refusal('invalid_request', 'id is a UUID, base is a UUID or empty');
  return { ...request.data, volume };
};

/** `POST /shared/settle`: the checkpoint with this id is stored. */
export const settleCheckpoint = async (userSide: UserSide, checkpoint: string): Promise<void> => {
  expectAnswer(await userSide.ask({ type: 'checkpoint-settle', transfer: '', checkpoint }), 'done');
};

export const sendCheckpoint = async (
  userSide: UserSide,
  { volume, id, base }: CheckpointRequest,
  response: ServerResponse,
): Promise<void> => {
  // The client may have disconnected while the request was queued.
  if (response.destroyed) return;
  const ask = await userSide.pin();
  const transfer = randomUUID();
  const check = createArchiveCheck({ allowsRemoved: volume === 'shared' });
  try {
    expectAnswer(await ask({ type: 'checkpoint-open', transfer, volume, checkpoint: id, base }), 'done');
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    const next = (): Promise<Answer> => ask({ type: 'checkpoint-read', transfer });
    for (let coming: Promise<Answer> | undefined = next(); coming !== undefined; ) {
      const answer: Answer = await coming;
      coming = expectAnswer(answer, 'piece').isLast ? undefined : next();
      // It is not awaited when this piece fails.
      coming?.catch(() => undefined);
      await checkPiece(check, answer.payload);
      await writePaced(response, answer.payload);
    }
    if (!check.isEnded()) throw new Error('the runner sent an archive without its end');
    await endPaced(response);
  } finally {
    // A runner that does not answer any more has nothing left to close.
    await ask({ type: 'transfer-close', transfer }).catch(() => undefined);
  }
};

const checkPiece = async (check: ArchiveCheck, piece: Buffer): Promise<void> => {
  for await (const frame of readArchive(ReadableStream.from([piece]))) {
    const { header } = frame;
    if ('path' in header && header.type !== 'left-out' && !isPlainPath(header.path)) {
      throw new Error('the runner named an entry outside of the workspace');
    }
    check.check(frame);
  }
};
