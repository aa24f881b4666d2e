/**
 * The process of one MCP server: started as the user, in the workspace, spoken to in lines.
 *
 * It has the environment of all user code and its own on top. Its output at any speed costs a bounded buffer,
 * and so does its unread input.
 */
import type { ChildProcess } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { StdioServerConfig } from '../../wire/stdio-messages.ts';
import { drain } from '../call.ts';
import { readNewChildrenCpuMs } from '../call-processes.ts';
import { refuseProgram, type SandboxPaths, searchPath, spawnMarked } from '../user-process.ts';
import { resolveInWorkspace } from '../workspace-path.ts';
import { createLineReader, createPacer } from './message-lines.ts';
import { StdioError } from './rpc-peer.ts';

export type StdioProcess = {
  /** False when it was not accepted: the process has ended or does not read. */
  readonly write: (line: string) => boolean;
  /** Asks it to end. */
  readonly closeInput: () => void;
  /** A description of its end, once its last output is read. */
  readonly died: Promise<string>;
};

export type StdioProcessStart = {
  readonly config: StdioServerConfig;
  readonly paths: SandboxPaths;
  readonly mark: number;
};

export type StdioListener = {
  /** The bytes are good until it returns. */
  readonly onLine: (line: Buffer) => void;
  readonly onOverlong: () => void;
  readonly onStderr: (chunk: Buffer) => void;
};

/** An image of 4 MB in base64, with room for its text. */
export const lineBytesMax = 8 * 1_048_576;
const unreadBytesMax = 4 * 1_048_576;

export const startStdioProcess = async (
  start: StdioProcessStart,
  listener: StdioListener,
): Promise<StdioProcess> => {
  const child = await spawnServer(start);
  const died = endOf(child);
  // Too many processes, for one.
  if (child.pid === undefined) throw new StdioError('start', await died);
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new StdioError('start', 'it has no pipes');
  const pace = createPacer(stdout);
  const reader = createLineReader({
    bytesMax: lineBytesMax,
    onLine: (line) => {
      pace();
      listener.onLine(line);
    },
    onOverlong: listener.onOverlong,
  });
  stdout.on('data', reader.push);
  stderr.on('data', listener.onStderr);
  // It may end before it has read.
  stdin.on('error', () => undefined);
  return {
    write: (line) => {
      if (!stdin.writable || stdin.writableLength > unreadBytesMax) return false;
      stdin.write(line);
      return true;
    },
    closeInput: () => void stdin.end(),
    died,
  };
};

const spawnServer = async ({ config, paths, mark }: StdioProcessStart): Promise<ChildProcess> => {
  const { command, args, env, cwd = '.' } = config;
  const folder = await resolveInWorkspace(paths, cwd);
  if (!(await isFolder(folder))) throw new StdioError('start', `its working folder ${cwd} is not there`);
  const refused = refuseProgram(command, folder, searchPath(env));
  if (refused !== undefined)
    throw new StdioError('start', `${refused.message.trim()} (exit code ${refused.exitCode})`);
  const argv = [command, ...args];
  try {
    return spawnMarked({ ...paths, argv, cwd: folder, variables: env, hasInput: true }, mark);
  } catch (error) {
    // Its arguments and its environment are more than the kernel takes.
    throw new StdioError('start', error instanceof Error ? error.message : String(error));
  }
};

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => {
      // No later call used this time.
      readNewChildrenCpuMs();
      child.stdout?.resume();
      const how = signal === null ? `it exited with code ${exitCode}` : `it was ended by ${signal}`;
      void drain(child).then(() => resolve(how));
    });
    child.once('error', (error) => {
      if (child.pid === undefined) resolve(`it could not be started: ${error.message}`);
    });
  });
