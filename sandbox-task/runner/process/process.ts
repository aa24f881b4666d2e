/**
 * A process of the user that outlives the request that started it: its output as it comes, its input, its end.
 *
 * It ends with its first program; what that left in the background lives on until `endMarked` ends all of it.
 */
import type { ChildProcess } from 'node:child_process';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessSpec, ProcessStream } from '../../wire/process-messages.ts';
import type { Call } from '../call.ts';
import type { Send } from '../call-output.ts';
import { markOf, openKill, readNewChildrenCpuMs } from '../call-processes.ts';
import { defaultFolder, refuseProgram, type SandboxPaths, searchPath, spawnMarked } from '../user-process.ts';
import { FileRefusal } from '../workspace-path.ts';
import type { Flow } from './flow.ts';
import { controls, followOutput, noProcess, type ProcessControls } from './process-pipes.ts';

export type UserProcess = Call & ProcessControls & { readonly first: ChildProcess | undefined };

type ProcessStart = SandboxPaths & {
  readonly id: number;
  readonly spec: ProcessSpec;
  readonly input: Buffer;
  readonly flow: Flow;
  readonly checkLimits: () => void;
};

type Started = { readonly child: ChildProcess; readonly hasTerminal: boolean };

const terminalProgram = fileURLToPath(new URL('./terminal.py', import.meta.url));

/** Throws a refusal for a folder that does not exist; any other failure to start is the end of the process. */
export const startProcess = (start: ProcessStart, send: Send): UserProcess => {
  const { id, spec, input } = start;
  const cwd = folderOf(start);
  const mark = markOf(id);
  const startedAt = performance.now();
  let first: ChildProcess | undefined;
  const { kill, cause, allEnded } = openKill(mark, () => first);
  const show = (stream: ProcessStream, bytes: Buffer): void =>
    send({ type: 'process-output', id, stream }, bytes);
  const end = (how: End, isEnded: boolean): void => {
    const durationMs = Math.round(performance.now() - startedAt);
    send({ type: 'process-exit', id, ...how, killedFor: cause(), isEnded, durationMs });
  };
  const started = open(start, { cwd, mark });
  if ('exitCode' in started) {
    send({ type: 'process-started', id, pid: 0 });
    show(spec.pty === undefined ? 'stderr' : 'pty', Buffer.from(started.text));
    end(started, true);
    return { mark, first, kill: () => undefined, ended: Promise.resolve(), ...noProcess };
  }
  const { child, hasTerminal } = started;
  first = child;
  const run = async (): Promise<void> => {
    const timer =
      spec.timeoutMs === undefined ? undefined : setTimeout(() => kill('timeout'), spec.timeoutMs);
    const output = followOutput(child, { flow: start.flow, hasTerminal, show });
    const how = await waitForEnd(child);
    clearTimeout(timer);
    start.checkLimits();
    const isEnded = await allEnded();
    await output.rest();
    end(how, isEnded);
  };
  send({ type: 'process-started', id, pid: child.pid ?? 0 });
  const ended = run();
  const process = { mark, first, kill, ended, ...controls(child, hasTerminal) };
  // It may end before it has read any.
  process.write(input, spec.isInputWhole).catch(() => undefined);
  return process;
};

const folderOf = ({ spec, workspace }: ProcessStart): string => {
  const folder = spec.cwd === undefined ? defaultFolder(workspace) : resolve(workspace, spec.cwd);
  try {
    if (statSync(folder).isDirectory()) return folder;
  } catch {
    // Refused below, in words of ours.
  }
  throw new FileRefusal('file_not_found', `cwd: there is no folder ${JSON.stringify(spec.cwd)}`);
};

type NotStarted = End & { readonly text: string };

const open = (
  { spec, ...paths }: ProcessStart,
  { cwd, mark }: { readonly cwd: string; readonly mark: number },
): Started | NotStarted => {
  const { argv, env, pty } = spec;
  const refused = refuseProgram(argv[0] ?? '', cwd, searchPath(env));
  if (refused !== undefined)
    return { exitCode: refused.exitCode, signal: null, startFailure: null, text: refused.message };
  const hasTerminal = pty !== undefined;
  const started = {
    ...paths,
    ...{ cwd, hasInput: true, hasChannel: hasTerminal },
    argv: pty ? ['python3', '-IS', terminalProgram, String(pty.cols), String(pty.rows), ...argv] : argv,
    variables: hasTerminal ? { TERM: 'xterm-256color', ...env } : env,
  };
  try {
    return { child: spawnMarked(started, mark), hasTerminal };
  } catch (error) {
    // Its arguments are more than the kernel takes.
    const startFailure = error instanceof Error ? error.message : String(error);
    return { exitCode: null, signal: null, startFailure, text: '' };
  }
};

type End = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly startFailure: string | null;
};

const waitForEnd = (child: ChildProcess): Promise<End> =>
  new Promise((settle) => {
    child.once('exit', (exitCode, signal) => {
      // Its time is no other call's.
      readNewChildrenCpuMs();
      settle({ exitCode, signal, startFailure: null });
    });
    child.once('error', (error) => {
      if (child.pid === undefined) settle({ exitCode: null, signal: null, startFailure: error.message });
    });
  });
