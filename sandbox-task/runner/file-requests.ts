/**
 * Answers the server's requests about files and folders of the workspace.
 *
 * A job works only while it is asked for its next piece. One that has ended, or has failed, is forgotten; the server closes one that it
 * gives up.
 */

import type { FileRequest, JobRequest, JobWork } from '../wire/file-messages.ts';
import type { RunnerRequest, RunnerSettings } from '../wire/messages.ts';
import type { Send } from './call-output.ts';
import { listFolder, readChunk, statEntry, writeWhole } from './files.ts';
import { copySteps, makeFolder, movePath } from './folder-changes.ts';
import { treeSteps } from './folder-tree.ts';
import { makeRoomFor } from './output-files.ts';
import { packSteps } from './pack-folder.ts';
import { removeStep } from './remove-path.ts';
import { unpackSteps, writeArchivePart } from './unpack-folder.ts';
import { writePart } from './upload-parts.ts';
import { watchSteps } from './watch-folder.ts';
import { FileRefusal, type Roots, toFileRefusal } from './workspace-path.ts';

type FileAccess =
  | FileRequest
  | Extract<RunnerRequest, { readonly type: 'read' | 'write' | 'write-part' | 'remove' | 'list' }>;

export const createFileServer = (settings: RunnerSettings, send: Send) => {
  const jobs = createFileJobs(settings);
  return async (request: FileAccess, payload: Buffer): Promise<void> => {
    switch (request.type) {
      case 'read': {
        const { bytes, ...traits } = await readChunk(settings, request.path, request);
        send({ type: 'chunk', id: request.id, ...traits }, bytes);
        return;
      }
      case 'write':
        makeRoomFor(settings.workspace, request.path);
        send({
          type: 'written',
          id: request.id,
          ...(await writeWhole(settings, request.path, payload)),
        });
        return;
      case 'write-part': {
        const outcome = await writePart(settings, request, payload);
        if ('received' in outcome) send({ type: 'received', id: request.id, bytes: outcome.received });
        else send({ type: 'written', id: request.id, ...outcome });
        return;
      }
      case 'remove':
        if (await removeStep(settings, request.path)) send({ type: 'done', id: request.id });
        else send({ type: 'piece', id: request.id, isLast: false });
        return;
      case 'list': {
        const { entries, isCut } = await listFolder(settings, request.path);
        send({ type: 'listed', id: request.id, isCut }, Buffer.from(JSON.stringify(entries)));
        return;
      }
      case 'stat': {
        const entry = await statEntry(settings, request.path);
        send({ type: 'listed', id: request.id, isCut: false }, Buffer.from(JSON.stringify([entry])));
        return;
      }
      case 'make-folder':
        send({
          type: 'written',
          id: request.id,
          isNew: await makeFolder(settings, request.path),
          size: 0,
        });
        return;
      case 'move':
        send({ type: 'written', id: request.id, isNew: await movePath(settings, request), size: 0 });
        return;
      case 'write-archive': {
        const bytes = await writeArchivePart(settings, request, payload);
        send({ type: 'received', id: request.id, bytes });
        return;
      }
      default: {
        const piece = await jobs.serve(request);
        if (piece === undefined) send({ type: 'done', id: request.id });
        else send({ type: 'piece', id: request.id, isLast: piece.isLast }, piece.bytes);
        return;
      }
    }
  };
};

/** Watches and transfers of folders at once. */
const jobsMax = 32;

type Steps = AsyncGenerator<Buffer, Buffer>;
type Job = { readonly steps: Steps; readonly path: string };
/** Nothing: the job was opened or closed. */
type JobAnswer = { readonly isLast: boolean; readonly bytes: Buffer } | undefined;

/** Under the names that the server gave them. */
const createFileJobs = (roots: Roots) => {
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
      return unpackSteps(roots, work);
    case 'watch':
      return watchSteps(roots, work.path);
  }
};
