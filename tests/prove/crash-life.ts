/** One life of the program of one machine, and its death: SIGKILL for it and for everything below it, sandboxes too. */
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf } from '../../operations/soak/host.ts';
import { sandboxProcesses } from '../e2e/sandbox-processes.ts';
import { type Server, startServer } from '../e2e/server.ts';

export type Ground = { readonly home: string; readonly shared: string };

export type Life = {
  readonly server: Server;
  /** Epoch milliseconds at which it said that it listens. */
  readonly listensAt: number;
  /** True from the moment at which its death was decided: what a request meets then says nothing. */
  readonly isOver: () => boolean;
  /** Gives the time at which nothing of it was left. */
  readonly die: () => Promise<number>;
};

const rePollMs = 20;

export const beginLife = async ({ home, shared }: Ground): Promise<Life> => {
  const server = await startServer({
    home,
    variables: { LLM_PROVIDER: 'demo', MSB_DEFAULT_FLAVOR: 'micro', MSB_SHARED_VOLUME_PATH: shared },
  });
  let isOver = false;
  return {
    ...{ server, listensAt: Date.now() },
    isOver: () => isOver,
    die: async () => {
      isOver = true;
      await killMachine(server);
      return Date.now();
    },
  };
};

/** Ends when nothing of it is left. */
export const killMachine = async (server: Server): Promise<void> => {
  const below = await descendantsOf(server.pid);
  const dead = server.kill();
  for (const pid of below) killOne(pid);
  await dead;
  // Sandboxes that were being started meanwhile.
  for (let left = sandboxProcesses(server.home); left.length > 0; left = sandboxProcesses(server.home)) {
    for (const { pid } of left) killOne(pid);
    await sleep(rePollMs);
  }
};

const killOne = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (cause) {
    // It died with its parent.
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause;
  }
};
