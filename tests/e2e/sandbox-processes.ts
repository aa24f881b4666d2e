/**
 * The servers of the sandboxes of one data folder, found among all processes of this machine by what is
 * mounted in them: tests kill one of their own and count what is left, beside other clouds.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

export type SandboxProcess = { readonly pid: number; readonly taskId: string };

/** Every process inside a sandbox of this data folder, the server, runners and user code alike. */
export const sandboxProcesses = (home: string): readonly SandboxProcess[] => {
  const run = createHash('sha256').update(home).digest('hex').slice(0, 12);
  const workspace = new RegExp(`/sallyport-run-${run}/tasks/([^/]+)/workspace /workspace `);
  return readdirSync('/proc').flatMap((name) => {
    const taskId = /^\d+$/.test(name) ? workspace.exec(readProcess(name, 'mountinfo'))?.[1] : undefined;
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
  return sandboxProcesses(home).find(
    (one) => one.taskId === taskId && isServer(readProcess(one.pid, 'cmdline')),
  );
};

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
