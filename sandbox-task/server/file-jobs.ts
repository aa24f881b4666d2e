/**
 * File jobs as the server follows them: pulled piece by piece from the runner that began them, and closed when the reader
 * stops. Outcomes are untrusted: the runner can be taken over.
 */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { changeKinds } from '#shared/domain/file-change.ts';
import type { FileChange, JobWork } from '../wire/file-messages.ts';
import { expectAnswer, type UserSide } from './user-side.ts';

/** Returns the last piece, which is the outcome. */
export async function* pullJob(userSide: UserSide, work: JobWork): AsyncGenerator<Buffer, Buffer> {
  const ask = await userSide.pin();
  const job = randomUUID();
  try {
    expectAnswer(await ask({ type: 'job-open', job, work }), 'done');
    for (;;) {
      const answer = await ask({ type: 'job-next', job });
      if (expectAnswer(answer, 'piece').isLast) return answer.payload;
      yield answer.payload;
    }
  } finally {
    // A runner that does not answer any more has nothing left to close.
    await ask({ type: 'job-close', job }).catch(() => undefined);
  }
}

/** The outcome of a job whose pieces are of no interest. */
export const finishJob = async (userSide: UserSide, work: JobWork): Promise<Buffer> => {
  const steps = pullJob(userSide, work);
  for (;;) {
    const { value, done } = await steps.next();
    if (done) return value;
  }
};

const count = z.number().int().nonnegative();
const writtenTree = z.object({ isNew: z.boolean(), files: count, bytes: count });
const treeEnd = z.object({ truncated: z.boolean() });
const pathText = z.string().max(5000);
const treeEntries = z.array(
  z.object({
    path: pathText,
    name: z.string().max(1000),
    type: z.enum(['file', 'directory', 'symlink']),
    size: count,
    modifiedAt: z.iso.datetime(),
  }),
);
const changes = z.array(z.object({ path: pathText, kind: z.enum(changeKinds) }));

const jsonOf = (payload: Buffer): unknown => JSON.parse(payload.toString());

export const parseWrittenTree = (payload: Buffer): z.output<typeof writtenTree> =>
  writtenTree.parse(jsonOf(payload));
export const parseTreeEnd = (payload: Buffer): z.output<typeof treeEnd> => treeEnd.parse(jsonOf(payload));
export const parseTreeEntries = (payload: Buffer): z.output<typeof treeEntries> =>
  treeEntries.parse(jsonOf(payload));
export const parseChanges = (payload: Buffer): readonly FileChange[] => changes.parse(jsonOf(payload));
