/**
 * The processes of the sandboxes of one data folder, found among all of this machine by what is mounted in them
 * or by their control group: tests kill one of their own and count what is left, beside other clouds.
 *
 * Without control groups a process is found once its wall stands: the mount is then all that names its sandbox.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { runFolderOf } from '../../local/ecs/run-folder.ts';

export type SandboxProcess = { readonly pid: number; readonly taskId: string };

/** Every process of a sandbox of this data folder: its walls, the server, runners and user code. */
export const sandboxProcesses = (home: string): readonly SandboxProcess[] => {
  const { name: run } = runFolderOf(home);
  const workspace = new RegExp(`/sallyport-run-${run}/tasks/([^/]+)/(?:workspace|socket) `);
  const group = new RegExp(`/sallyport/${run}-([0-9a-f]+)$`, 'm');
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || hasEnded(name)) return [];
    const taskId =
      group.exec(readProcess(name, 'cgroup'))?.[1] ?? workspace.exec(readProcess(name, 'mountinfo'))?.[1];
    return taskId === undefined ? [] : [{ pid: Number(name), taskId }];
  });
};

/** As if the container died: nothing inside can react. */
export const killServer = (home: string, taskArn: string): void => {
  const server = serverOf(home, taskArn);
  if (server === undefined) throw new Error(`no server of ${taskArn} runs`);
  process.kill(server.pid, 'SIGKILL');
};

/** A task runs a moment before its server does. */
export const serverOf = (home: string, taskArn: string): SandboxProcess | undefined => {
  const taskId = taskArn.split('/').at(-1);
  return serversOf(home).find((one) => one.taskId === taskId);
};

export const serversOf = (home: string): readonly SandboxProcess[] =>
  sandboxProcesses(home).filter(({ pid }) => isServer(readProcess(pid, 'cmdline')));

/** The process that started a server's sandbox, outside it. */
export const wallOf = ({ pid, taskId }: SandboxProcess): SandboxProcess => ({
  // Between the two is the first process of the sandbox's own process namespace.
  pid: parentOf(parentOf(pid)),
  taskId,
});

const parentOf = (pid: number): number => {
  const parent = /^PPid:\t(\d+)$/m.exec(readProcess(pid, 'status'))?.[1];
  if (parent === undefined || Number(parent) <= 1) throw new Error(`process ${pid} has no parent of ours`);
  return Number(parent);
};

/** It waits to be reaped, or is gone: it has no memory any more. */
const hasEnded = (name: string): boolean => readProcess(name, 'cmdline') === '';

const isServer = (command: string): boolean =>
  command.startsWith('/opt/sallyport/bin/node\0') && command.includes('\0/opt/sallyport/server.mjs');

const readProcess = (pid: string | number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It has ended.
    return '';
  }
};
