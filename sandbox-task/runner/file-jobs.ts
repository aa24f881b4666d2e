/**
 * File jobs under the names that the server gave them: each works only while it is asked for its next piece.
 *
 * A job that has ended, or has failed, is forgotten; the server closes one that it gives up.
 */
import type { JobRequest, JobWork } from '../wire/file-messages.ts';
import { copySteps } from './folder-changes.ts';
import { treeSteps } from './folder-tree.ts';
import { packSteps } from './pack-folder.ts';
import { unpackSteps } from './unpack-folder.ts';
import { watchSteps } from './watch-folder.ts';
import { FileRefusal, type Roots, toFileRefusal } from './workspace-path.ts';

/** Watches and transfers of folders at once. */
const jobsMax = 32;

type Steps = AsyncGenerator<Buffer, Buffer>;
type Job = { readonly steps: Steps; readonly path: string };
/** Nothing: the job was opened or closed. */
type JobAnswer = { readonly isLast: boolean; readonly bytes: Buffer } | undefined;

export const createFileJobs = (roots: Roots) => {
  const jobs = new Map<string, Job>();
  const next = async (name: string): Promise<JobAnswer> => {
    const job = jobs.get(name);
    if (job === undefined) throw new FileRefusal('invalid_request', 'there is no such job');
    try {
      const { value, done = false } = await job.steps.next();
      if (done) jobs.delete(name);
      return { isLast: done, bytes: value };
    } catch (cause) {
      jobs.delete(name);
      throw toFileRefusal(cause, job.path);
    }
  };
  return {
    async serve(request: JobRequest): Promise<JobAnswer> {
      switch (request.type) {
        case 'job-open':
          if (jobs.size >= jobsMax)
            throw new FileRefusal('resource_limit_exceeded', `${jobsMax} transfers and watches run already`);
          jobs.set(request.job, { steps: stepsOf(roots, request.work), path: request.work.path });
          return undefined;
        case 'job-next':
          return next(request.job);
        case 'job-close': {
          const closed = jobs.get(request.job);
          jobs.delete(request.job);
          await closed?.steps.return(Buffer.alloc(0));
          return undefined;
        }
      }
    },
  };
};

const stepsOf = (roots: Roots, work: JobWork): Steps => {
  switch (work.kind) {
    case 'tree':
      return treeSteps(roots, work.path);
    case 'copy':
      return copySteps(roots, work);
    case 'pack':
      return packSteps(roots, work.path);
    case 'unpack':
      return unpackSteps(roots, work.path);
    case 'watch':
      return watchSteps(roots, work.path);
  }
};
