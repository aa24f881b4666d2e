/** Answers the server's requests about files and folders of the workspace. */
import type { RunnerRequest, RunnerSettings } from '../wire/messages.ts';
import type { Send } from './call-output.ts';
import { createFileJobs } from './file-jobs.ts';
import { listFolder, readChunk, removePath, statEntry, writePart, writeWhole } from './files.ts';
import { makeFolder, movePath } from './folder-changes.ts';
import { writeArchivePart } from './unpack-folder.ts';

type FileAccess = Extract<
  RunnerRequest,
  {
    readonly type:
      | 'read'
      | 'write'
      | 'write-part'
      | 'remove'
      | 'list'
      | 'stat'
      | 'make-folder'
      | 'move'
      | 'write-archive'
      | 'job-open'
      | 'job-next'
      | 'job-close';
  }
>;

export const createFileServer = (settings: RunnerSettings, send: Send) => {
  const jobs = createFileJobs(settings);
  return async (request: FileAccess, payload: Buffer): Promise<void> => {
    switch (request.type) {
      case 'read': {
        const { bytes, size, modifiedAt } = await readChunk(settings, request.path, request);
        send({ type: 'chunk', id: request.id, size, modifiedAt }, bytes);
        return;
      }
      case 'write':
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
        await removePath(settings, request.path);
        send({ type: 'done', id: request.id });
        return;
      case 'list':
        send(
          { type: 'listed', id: request.id },
          Buffer.from(JSON.stringify(await listFolder(settings, request.path))),
        );
        return;
      case 'stat': {
        const entry = await statEntry(settings, request.path);
        send({ type: 'listed', id: request.id }, Buffer.from(JSON.stringify([entry])));
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
