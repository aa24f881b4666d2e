/** The processes that this runner has started and that run, by the ids of the requests that started them. */
import type { ProcessRequest, ProcessSpec } from '../../wire/process-messages.ts';
import type { Call } from '../call.ts';
import type { Send } from '../call-output.ts';
import { endMarked, markOf } from '../call-processes.ts';
import type { SandboxPaths } from '../user-process.ts';
import { FileRefusal } from '../workspace-path.ts';
import type { Flow } from './flow.ts';
import { startProcess, type UserProcess } from './process.ts';

type TableParts = SandboxPaths & {
  readonly flow: Flow;
  readonly checkLimits: () => void;
  readonly send: Send;
  /** Counts it among the calls until it has ended. */
  readonly follow: (id: number, call: Call) => Promise<void>;
};

export type ProcessTable = {
  readonly serve: (request: ProcessRequest, payload: Buffer) => Promise<void>;
};

export const createProcessTable = ({ send, follow, ...parts }: TableParts): ProcessTable => {
  const running = new Map<number, UserProcess>();

  const start = async (id: number, spec: ProcessSpec, input: Buffer): Promise<void> => {
    const process = startProcess({ ...parts, id, spec, input }, send);
    running.set(id, process);
    await follow(id, process).finally(() => running.delete(id));
  };
  const end = async (id: number): Promise<boolean> => {
    const process = running.get(id);
    const isEnded = await endMarked(markOf(id), process?.first);
    if (isEnded) await process?.ended;
    return isEnded;
  };
  const find = (id: number): UserProcess => {
    const process = running.get(id);
    if (process === undefined) throw new FileRefusal('conflict', 'the process has ended');
    return process;
  };
  return {
    serve: async (request, payload) => {
      const { id } = request;
      switch (request.type) {
        case 'start-process': {
          const spec = JSON.parse(payload.toString('utf8', 0, request.specBytes)) as ProcessSpec;
          return start(id, spec, payload.subarray(request.specBytes));
        }
        case 'end-process':
          send({ type: 'process-ended', id, isEnded: await end(request.process) });
          return;
        case 'write-input':
          await find(request.process).write(payload, request.isLast);
          break;
        case 'signal-process':
          find(request.process).signal(request.signal);
          break;
        case 'resize-process':
          find(request.process).resize(request);
          break;
      }
      send({ type: 'done', id });
    },
  };
};
