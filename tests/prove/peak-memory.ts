/** The highest memory of processes between two looks: of the platform, and of the server of the one sandbox that runs. */
import { readFile, writeFile } from 'node:fs/promises';
import { sandboxProcesses, serverOf } from '../e2e/sandbox-processes.ts';
import type { Server } from '../e2e/server.ts';

export type Watched = 'platform' | "sandbox's server";

/** In megabytes. */
export type Peaks = Readonly<Record<Watched, number>>;

/** Each look tells the peaks since the one before. */
export const watchPeaks = (server: Server): (() => Promise<Peaks>) => {
  const pid = pidOfServer(server);
  return async () => ({ platform: await takePeak(server.pid), "sandbox's server": await takePeak(pid) });
};

const pidOfServer = ({ home }: Server): number => {
  for (const { taskId } of sandboxProcesses(home)) {
    const found = serverOf(home, taskId);
    if (found !== undefined) return found.pid;
  }
  throw new Error('no sandbox runs');
};

/** Resident memory since the last question (proc(5), clear_refs). */
const takePeak = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'latin1');
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  return Math.round(Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024);
};
