/**
 * The processes of a sandbox as the host sees them: bubblewrap; its child, the init of the sandbox's process namespace;
 * and the first child of that, the server.
 *
 * bubblewrap forwards no signal, so SIGTERM goes to the server itself. Its child is bound to its life only once the
 * walls stand: killing bubblewrap earlier would leave the child alive. So bubblewrap is halted first, then its child is
 * killed, which ends every process inside the walls, and then bubblewrap itself.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const haltTriesMax = 500;
const haltPauseMs = 1;

/** False when there is no server yet, or no longer; then there is nothing to wait for. */
export const terminateServer = (bubblewrap: number): boolean => {
  const [init] = childrenOf(bubblewrap);
  const [server] = init === undefined ? [] : childrenOf(init);
  return server !== undefined && send(server, 'SIGTERM');
};

export const killSandbox = async (bubblewrap: number): Promise<void> => {
  send(bubblewrap, 'SIGSTOP');
  for (let attempt = 1; isRunning(bubblewrap) && attempt <= haltTriesMax; attempt += 1)
    await delay(haltPauseMs);
  for (const child of childrenOf(bubblewrap)) send(child, 'SIGKILL');
  send(bubblewrap, 'SIGKILL');
};

/** False when the process has ended. */
export const send = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
};

/** Neither halted nor ended: it could still fork. */
const isRunning = (pid: number): boolean => /^State:\t[^TtZX]/m.test(readProcess(`${pid}/status`));

/** The oldest child comes first (proc_pid_task(5); every distribution's kernel has CONFIG_PROC_CHILDREN). */
const childrenOf = (pid: number): readonly number[] =>
  readProcess(`${pid}/task/${pid}/children`)
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);

const readProcess = (path: string): string => {
  try {
    return readFileSync(`/proc/${path}`, 'latin1').trim();
  } catch {
    // It has ended.
    return '';
  }
};
