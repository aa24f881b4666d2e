/**
 * The runner: whatever touches the user's files and processes, as the user.
 *
 * It hangs on the server by one inherited duplex pipe (descriptor 3) and ends with it. It decides nothing
 * and guards nothing: user code has its identity and may take it over, which wins only the right to lie
 * about its own sandbox (docs/spec/sandbox.md, W9).
 */
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { createFrameReader, encodeFrame } from '../wire/frame.ts';
import type { RunnerRequest, RunnerSettings } from '../wire/messages.ts';
import { type Call, type Send, startCall } from './call.ts';
import { toFileRefusal } from './file-refusal.ts';
import { listFolder, readChunk, writeWhole } from './files.ts';
import { watchProcesses } from './process-watch.ts';

const settings = JSON.parse(process.argv[2] ?? '') as RunnerSettings;
const { workspace } = settings;
const pipe = new Socket({ fd: 3, readable: true, writable: true });
const calls = new Map<number, Call>();

const send: Send = (message, payload) => {
  pipe.write(encodeFrame(message, payload));
};

const serve = async (request: RunnerRequest, payload: Buffer): Promise<void> => {
  switch (request.type) {
    case 'start': {
      const call = startCall({ ...request, workspace }, send);
      calls.set(request.id, call);
      await call.ended;
      calls.delete(request.id);
      return;
    }
    case 'kill':
      calls.get(request.id)?.kill(request.cause);
      return;
    case 'read': {
      const { bytes, size, modifiedAt } = await readChunk(workspace, request.path, request);
      send({ type: 'chunk', id: request.id, size, modifiedAt }, bytes);
      return;
    }
    case 'write':
      await writeWhole(workspace, request.path, payload);
      send({ type: 'written', id: request.id });
      return;
    case 'list':
      send(
        { type: 'listed', id: request.id },
        Buffer.from(JSON.stringify(await listFolder(workspace, request.path))),
      );
      return;
  }
};

const refuse = (request: RunnerRequest, cause: unknown): void => {
  const refusal = toFileRefusal(cause, 'path' in request ? request.path : '');
  send({ type: 'refused', id: request.id, failure: refusal.failure, message: refusal.message });
};

pipe.on(
  'data',
  createFrameReader(({ header, payload }) => {
    const request = header as RunnerRequest;
    serve(request, payload).catch((cause: unknown) => refuse(request, cause));
  }),
);
pipe.on('close', () => process.exit(0));
pipe.on('error', () => process.exit(1));

writeFileSync('/proc/self/oom_score_adj', '500');
watchProcesses(settings, () => [...calls.values()]);
send({ type: 'ready' });
