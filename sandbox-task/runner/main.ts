/**
 * The runner: all access to the user's files and processes, as the user.
 *
 * It is connected to the server by one inherited duplex pipe (descriptor 3) and ends with it. It decides nothing
 * and guards nothing: user code has its identity, and taking it over gives only the right to lie about
 * its own sandbox (docs/spec/sandbox.md, W9).
 */
import { Socket } from 'node:net';
import { createFrameReader, encodeFrame, encodeFrameStart } from '../wire/frame.ts';
import { type RunnerRequest, type RunnerSettings, refusalCharactersMax } from '../wire/messages.ts';
import type { StdioWork } from '../wire/program-messages.ts';
import { type Call, startCall } from './call.ts';
import type { Send } from './call-output.ts';
import { watchProcesses } from './call-processes.ts';
import { createCodeRunner } from './code-call.ts';
import { listFolder, readChunk, removePath, writePart, writeWhole } from './files.ts';
import { startStdioCall } from './stdio/stdio-call.ts';
import { createStdioPool } from './stdio/stdio-pool.ts';
import { createTransfers } from './transfers.ts';
import { toFileRefusal } from './workspace-path.ts';

const settings = JSON.parse(process.argv[2] ?? '') as RunnerSettings;
const pipe = new Socket({ fd: 3, readable: true, writable: true });
const calls = new Map<number, Call>();
const transfers = createTransfers(settings);
const code = createCodeRunner(settings);
const checkLimits = watchProcesses(settings, () => [...calls.values()]);

const send: Send = (message, payload) => {
  pipe.write(encodeFrame(message, payload));
};

const stdioServers = createStdioPool(settings, (server, text) =>
  send({ type: 'stdio-log', server }, Buffer.from(text)),
);

/** For a payload that stays as it is until the server asks again. */
const sendUncopied: Send = (message, payload) => {
  pipe.cork();
  pipe.write(encodeFrameStart(message, payload?.length ?? 0));
  if (payload !== undefined) pipe.write(payload);
  pipe.uncork();
};

const serve = async (request: RunnerRequest, payload: Buffer): Promise<void> => {
  switch (request.type) {
    case 'start':
      return follow(request.id, startCall({ ...request, ...settings, checkLimits }, send));
    case 'run-code':
      return follow(request.id, code.run({ ...request, code: payload, checkLimits }, send));
    case 'end-context': {
      const count = await code.endContext(request.context, request.language);
      send({ type: 'context-ended', id: request.id, count });
      return;
    }
    case 'ask-stdio': {
      const work = JSON.parse(payload.toString()) as StdioWork;
      return follow(request.id, startStdioCall({ ...request, work, checkLimits }, stdioServers, send));
    }
    case 'kill':
      calls.get(request.id)?.kill(request.cause);
      return;
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
    default: {
      const { message, payload: answer } = await transfers.serve(request, payload);
      sendUncopied({ ...message, id: request.id }, answer);
    }
  }
};

const follow = async (id: number, call: Call): Promise<void> => {
  calls.set(id, call);
  try {
    await call.ended;
  } finally {
    calls.delete(id);
  }
};

const refuse = (request: RunnerRequest, cause: unknown): void => {
  const refusal = toFileRefusal(cause, 'path' in request ? request.path : '');
  const message = refusal.message.slice(0, refusalCharactersMax);
  send({ type: 'refused', id: request.id, failure: refusal.failure, message });
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

send({ type: 'ready' });
