/**
 * The output of a process as server-sent events, followed slice by slice: a reader that leaves does not end the invocation of
 * the link that reads for it, so each of them is short.
 *
 * The output of a process whose sandbox has ended is its end alone, which says that the output is lost: a reader that comes back would take
 * what it has for the whole.
 */
import { readOutputEvent } from '../../contracts/output-event.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { outputSliceMs } from '../../domain/limits.ts';
import type { Session } from '../../domain/session.ts';
import type { Deps, ProcessDeps } from '../deps.ts';
import { requireRecord } from './list-processes.ts';
import { askProcess } from './use-process.ts';

export type OutputRequest = {
  readonly id: string;
  readonly offset: number;
  readonly isFollowing: boolean;
  /** A reader for whom a terminal keeps its sandbox. */
  readonly isAttached: boolean;
};

/** The first slice is asked before this resolves, so that a refusal is thrown. */
export const followOutput = async (
  ports: ProcessDeps,
  session: Session,
  request: OutputRequest,
): Promise<ReadableStream<Uint8Array>> => {
  let reader = (await openSlice(ports, session, { ...request, isFirst: true })).getReader();
  let isLeft = false;
  let last = '';
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const { value, done } = await reader.read();
    if (value !== undefined) {
      last = endOf(last, value, markBytesMax);
      controller.enqueue(value);
    }
    if (!done) return;
    const next = nextMark.exec(last)?.[1];
    if (next === undefined || isLeft) {
      controller.close();
      return;
    }
    last = '';
    reader = (
      await openSlice(ports, session, { ...request, offset: Number(next), isFirst: false })
    ).getReader();
    // The reader may have left while it was opened.
    if (isLeft) await reader.cancel();
    else await pull(controller);
  };
  return new ReadableStream({
    pull,
    cancel: async () => {
      isLeft = true;
      await reader.cancel();
    },
  });
};

/** The last line of a slice that another one follows. */
const nextMark = /:next (\d+)\n\n$/;
const markBytesMax = 64;

export type SliceRequest = OutputRequest & {
  readonly isFirst: boolean;
  /** Bytes of one event at most; absent: as the sandbox prefers. */
  readonly pieceBytesMax?: number;
};

/** The output until its end or for the time of a slice, whose last line says where the next one begins. */
export const openSlice = async (
  ports: ProcessDeps,
  session: Session,
  { id, offset, isFollowing, isAttached, isFirst, pieceBytesMax }: SliceRequest,
): Promise<ReadableStream<Uint8Array>> => {
  const query = {
    offset: String(offset),
    follow: isFollowing ? '1' : '0',
    attach: isAttached ? '1' : '0',
    start: isFirst ? '1' : '0',
    slice: String(outputSliceMs),
    ...(pieceBytesMax === undefined ? {} : { piece: String(pieceBytesMax) }),
  };
  const rest = `/output?${new URLSearchParams(query)}`;
  const usedBy = isFollowing ? { sessionId: session.id } : undefined;
  const response = await askProcess(ports, session, { id, rest, method: 'GET', usedBy });
  if (response?.body != null) return response.body.pipeThrough(recordExit(ports, session.workspace, id));
  const { exitCode = null, endedAt } = await requireRecord(ports, session.workspace, id);
  const exit = { exitCode, ...(endedAt === undefined ? { lost: true } : { outputLost: true }) };
  const start = isFirst ? eventText('start', { processId: id }) : '';
  return new Blob([`${start}${eventText('exit', exit)}`]).stream();
};

const eventText = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** Records the end of a process as its output passes, before its reader learns of it: a later loss of the sandbox is not its. */
const recordExit = (
  { processes, world }: Deps<'processes' | 'world'>,
  workspace: WorkspaceId,
  id: string,
): TransformStream<Uint8Array, Uint8Array> => {
  let last = '';
  return new TransformStream({
    transform: async (chunk, controller) => {
      last = endOf(last, chunk, exitBytesMax);
      const exit = readOutputEvent(exitEvent.exec(last)?.[1] ?? '');
      if (exit?.type === 'exit' && exit.lost === undefined)
        await processes.end(workspace, id, {
          at: world.now(),
          ...(exit.exitCode === null ? {} : { exitCode: exit.exitCode }),
        });
      controller.enqueue(chunk);
    },
  });
};

/** An exit is the last event of its stream. */
const exitEvent = /(?:^|\n\n)(event: exit\n[^\n]*)\n\n$/;
const exitBytesMax = 256;

/** The last bytes of a stream, of which `last` came before the chunk. */
const endOf = (last: string, chunk: Uint8Array, bytesMax: number): string =>
  `${last}${new TextDecoder('latin1').decode(chunk.subarray(-bytesMax))}`.slice(-bytesMax);
