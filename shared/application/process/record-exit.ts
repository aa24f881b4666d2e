/** Records the end of a process as its output passes, before its reader learns of it: a later loss of the sandbox is not its. */
import { readOutputEvent } from '../../contracts/output-event.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { Deps } from '../deps.ts';

export const recordExit = (
  { processes, world }: Deps<'processes' | 'world'>,
  workspace: WorkspaceId,
  id: string,
): TransformStream<Uint8Array, Uint8Array> => {
  let last = '';
  return new TransformStream({
    transform: async (chunk, controller) => {
      last = `${last}${new TextDecoder('latin1').decode(chunk.subarray(-lastBytesMax))}`.slice(-lastBytesMax);
      const exit = readOutputEvent(lastEvent.exec(last)?.[1] ?? '');
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
const lastEvent = /(?:^|\n\n)(event: exit\n[^\n]*)\n\n$/;
const lastBytesMax = 256;
