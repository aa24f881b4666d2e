/** Counts of what the platform holds on this machine, read from `/proc` and from its folders. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { runFolderOf } from '../../local/ecs/run-folder.ts';
import { sandboxProcesses } from '../../tests/e2e/sandbox-processes.ts';
import type { HostState } from './record.ts';

const megabyte = 1_048_576;
const kilobyte = 1024;

/** The platform's process, those below it, and what its data folder has on the machine. */
export const hostState = async (pid: number, home: string): Promise<HostState> => {
  const below = await descendantsOf(pid);
  const inside = sandboxProcesses(home).map((one) => one.pid);
  const sockets = await Promise.all([pid, ...below].map(socketsOf));
  const listening = await listeningInodes();
  return {
    processes: new Set([pid, ...below, ...inside]).size,
    ports: sockets.flat().filter((inode) => listening.has(inode)).length,
    folders: (await namesIn(join(runFolderOf(home).folder, 'tasks'))).length,
  };
};

/** Of a platform that was stopped. */
export const stoppedState = async (home: string): Promise<HostState> => ({
  processes: sandboxProcesses(home).length,
  ports: 0,
  folders: (await namesIn(join(runFolderOf(home).folder, 'tasks'))).length,
});

export const residentMb = async (pid: number): Promise<number> => {
  const status = await read(`/proc/${pid}/status`);
  return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * kilobyte) / megabyte;
};

export const descriptorsOf = async (pid: number): Promise<number> =>
  (await namesIn(`/proc/${pid}/fd`)).length;

/** The processes below one, at any depth. */
export const descendantsOf = async (pid: number): Promise<readonly number[]> => {
  const found: number[] = [];
  for (const thread of await namesIn(`/proc/${pid}/task`)) {
    const children = (await read(`/proc/${pid}/task/${thread}/children`)).trim();
    for (const child of children === '' ? [] : children.split(' ').map(Number))
      found.push(child, ...(await descendantsOf(child)));
  }
  return found;
};

const socketsOf = async (pid: number): Promise<readonly string[]> => {
  const links = await Promise.all(
    (await namesIn(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
  );
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
};

/** State 0A of proc_net(5). */
const listeningInodes = async (): Promise<ReadonlySet<string>> => {
  const lines = `${await read('/proc/net/tcp')}\n${await read('/proc/net/tcp6')}`.split('\n');
  const fields = lines.map((line) => line.trim().split(/\s+/));
  return new Set(fields.flatMap((row) => (row[3] === '0A' && row[9] !== undefined ? [row[9]] : [])));
};

/** A process may end between two reads. */
const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
const namesIn = (path: string): Promise<readonly string[]> => readdir(path).catch(() => []);
