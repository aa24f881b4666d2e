/**
 * The runner: all access to the user's files and processes, as the user.
 *
 * It is connected to the server by one inherited duplex pipe (descriptor 3) and ends with it. It decides nothing
 * and guards nothing: user code has its identity, and taking it over gives only the right to lie about
 * its own sandbox (docs/spec/sandbox.md, W9).
 */
import { Socket } from 'node:net';
import { createFrameReader, encodeFrame, encodeFrameStart } from '../wire/frame.ts';
import {
  type ProgramDefaults,
  type ProgramSpec,
  type RunnerRequest,
  type RunnerSettings,
  refusalCharactersMax,
} from '../wire/messages.ts';
import { isProcessRequest } from '../wire/process-messages.ts';
import type { StdioWork } from '../wire/program-messages.ts';
import { type Call, startCall } from './call.ts';
import type { Send } from './call-output.ts';
import { watchProcesses } from './call-processes.ts';
import { createCodeRunner } from './code-call.ts';
import { createFileServer } from './file-requests.ts';
import { prepareOutputPipes } from './output-pipes.ts';
import { createFlow } from './process/flow.ts';
import { createProcessTable } from './process/process-table.ts';
import { startStdioCall } from './stdio/stdio-call.ts';
import { createStdioPool } from './stdio/stdio-pool.ts';
import { createTransfers } from './transfers.ts';
import { setDefaults } from './user-process.ts';
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

const serveFiles = createFileServer(settings, send);

/** For a payload that stays as it is until the server asks again. */
const sendUncopied: Send = (message, payload) => {
  pipe.cork();
  pipe.write(encodeFrameStart(message, payload?.length ?? 0));
  if (payload !== undefined) pipe.write(payload);
  pipe.uncork();
};

const follow = async (id: number, call: Call): Promise<void> => {
  calls.set(id, call);
  try {
    await call.ended;
  } finally {
    calls.delete(id);
  }
};

const processes = createProcessTable({ ...settings, flow: createFlow(pipe), checkLimits, send, follow });

const serve = async (request: RunnerRequest, payload: Buffer): Promise<void> => {
  if (isProcessRequest(request)) return processes.serve(request, payload);
  switch (request.type) {
    case 'start': {
      const spec = JSON.parse(payload.toString()) as ProgramSpec;
      return follow(request.id, startCall({ ...request, ...spec, ...settings, checkLimits }, send));
    }
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
    case 'set-defaults':
      return configure(request.id, JSON.parse(payload.toString()) as ProgramDefaults);
    case 'kill':
      calls.get(request.id)?.kill(request.cause);
      return;
    case 'read':
    case 'write':
    case 'write-part':
    case 'remove':
    case 'list':
    case 'stat':
    case 'make-folder':
    case 'move':
    case 'write-archive':
    case 'job-open':
    case 'job-next':
    case 'job-close':
      return serveFiles(request, payload);
    default: {
      const { message, payload: answer } = await transfers.serve(request, payload);
      sendUncopied({ ...message, id: request.id }, answer);
    }
  }
};

const configure = (id: number, defaults: ProgramDefaults): void => {
  setDefaults(settings.workspace, defaults);
  send({ type: 'done', id });
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

prepareOutputPipes();
send({ type: 'ready' });
