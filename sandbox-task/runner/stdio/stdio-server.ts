/**
 * One MCP server of the user, from its start to its end: a process as the user, in the workspace, spoken to in lines.
 *
 * It has the environment of all user code and its own on top. Its output at any speed costs a bounded buffer, and so does
 * its unread input. Lines of its stdout that are not messages are logged and skipped. It is ended when it does not answer
 * the handshake; processes that it leaves behind are killed.
 */

import type { ChildProcess } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createLineReader } from '../../wire/lines.ts';
import type { StdioServerConfig } from '../../wire/program-messages.ts';
import { killMarked, readNewChildrenCpuMs } from '../call-processes.ts';
import { drain } from '../last-output.ts';
import { refuseProgram, type SandboxPaths, searchPath, spawnMarked } from '../user-process.ts';
import { resolveInWorkspace } from '../workspace-path.ts';
import { type Handshake, initialize } from './mcp-client.ts';
import { createRpcPeer, type RpcPeer, StdioError } from './rpc-peer.ts';
import { createPacer, logLineBytesMax, type StdioLogger } from './server-lines.ts';

export type StdioServer = {
  /** Its processes are found by it. */
  readonly mark: number;
  readonly peer: RpcPeer;
  /** Rejects with the reason why it could not be started, or did not answer the handshake. */
  readonly ready: Promise<Handshake>;
  /** No process of it is left. */
  readonly ended: Promise<void>;
  readonly stderrTail: StdioLogger['stderrTail'];
  readonly redact: StdioLogger['redact'];
  /** Its calls fail with this cause. False when a process of it survives. */
  readonly kill: (cause: StdioError) => Promise<boolean>;
  /** Closes its input, and kills it after two seconds. */
  readonly retire: () => void;
};

const startMsMax = 60_000;
const retireMsMax = 2000;
const invalidLinesMax = 20;

export const startStdioServer = (start: StdioProcessStart, logger: StdioLogger): StdioServer => {
  const { mark } = start;
  let running: StdioProcess | undefined;
  let invalidLines = 0;
  const peer = createRpcPeer({
    write: (line) => running?.write(line) ?? false,
    onInvalid: (line) => {
      invalidLines += 1;
      if (invalidLines <= invalidLinesMax)
        logger.note(`[no message] ${line.toString('utf8', 0, logLineBytesMax)}`);
    },
  });
  const kill = (cause: StdioError): Promise<boolean> => {
    peer.fail(cause);
    return killMarked(mark);
  };
  const launched = startStdioProcess(start, {
    onLine: peer.receive,
    // It is unknown to which request this was the answer.
    onOverlong: () => peer.failOpen(new StdioError('protocol', `it wrote a line over ${lineBytesMax} bytes`)),
    onStderr: logger.push,
  });
  const follow = async (): Promise<void> => {
    running = await launched;
    const how = await running.died;
    logger.note(`[ended] ${how}`);
    logger.flush();
    await kill(new StdioError('died', how));
  };
  const ended = follow().catch((cause: unknown) => peer.fail(toStdioError(cause)));
  const speak = async (): Promise<Handshake> => {
    running = await launched;
    const noise = (): string =>
      invalidLines === 0 ? '' : `, but wrote ${invalidLines} lines that are no messages`;
    const timeout = delay(startMsMax, undefined, { ref: false }).then(() => {
      throw new StdioError(
        'protocol',
        `it did not answer initialize within ${startMsMax / 1000} s${noise()}`,
      );
    });
    return Promise.race([initialize(peer), timeout]);
  };
  const ready = speak();
  ready.catch((cause: unknown) => kill(toStdioError(cause)));
  return {
    mark,
    peer,
    ready,
    ended,
    stderrTail: logger.stderrTail,
    redact: logger.redact,
    kill,
    retire: () => {
      running?.closeInput();
      const timeout = setTimeout(() => void kill(new StdioError('died', 'it was ended')), retireMsMax);
      void ended.then(() => clearTimeout(timeout));
    },
  };
};

const toStdioError = (cause: unknown): StdioError =>
  cause instanceof StdioError ? cause : new StdioError('start', 'it could not be started');

type StdioProcess = {
  /** False when it was not accepted: the process has ended or does not read. */
  readonly write: (line: string) => boolean;
  /** Asks it to end. */
  readonly closeInput: () => void;
  /** A description of its end, once its last output is read. */
  readonly died: Promise<string>;
};

type StdioProcessStart = {
  readonly config: StdioServerConfig;
  readonly paths: SandboxPaths;
  readonly mark: number;
};

type StdioListener = {
  /** The bytes are good until it returns. */
  readonly onLine: (line: Buffer) => void;
  readonly onOverlong: () => void;
  readonly onStderr: (chunk: Buffer) => void;
};

/** An image of 4 MB in base64, with room for its text. */
const lineBytesMax = 8 * 1_048_576;
const unreadBytesMax = 4 * 1_048_576;

const startStdioProcess = async (
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
