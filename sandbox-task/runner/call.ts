/**
 * The call: one program of the user, from its start to its result.
 *
 * It ends with its first process; background processes live on. Over a limit or cancelled, every process of it is
 * killed, and the result names the cause.
 */
import type { ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { type KillCause, type Surroundings, streamNames } from '../wire/messages.ts';
import { type CallReport, openReport, type Send } from './call-output.ts';
import { markOf, openKill, readNewChildrenCpuMs } from './call-processes.ts';
import { drain } from './last-output.ts';
import { outputFilesOf } from './output-files.ts';
import {
  defaultFolder,
  refuseFolder,
  refuseProgram,
  type SandboxPaths,
  searchPath,
  spawnMarked,
} from './user-process.ts';

type CallStart = SandboxPaths &
  Surroundings & {
    readonly id: number;
    readonly argv: readonly string[];
    readonly timeoutMs: number;
    /** Called as the program ends: kills the call if it is what fills the sandbox. */
    readonly checkLimits: () => void;
  };
export type Call = {
  /** By which its processes are found again. */
  readonly mark: number;
  readonly kill: (cause: KillCause) => void;
  readonly ended: Promise<void>;
};

export const startCall = (start: CallStart, send: Send): Call => {
  const mark = markOf(start.id);
  let first: ChildProcess | undefined;
  const { kill, cause, allEnded } = openKill(mark, () => first);
  const run = async (): Promise<void> => {
    const startedAt = performance.now();
    const report = openReport(start.id, send, outputFilesOf(start));
    const child = startProgram(start, mark, report);
    if ('exitCode' in child) {
      report.close({ signal: null, killedFor: cause(), isEnded: true, durationMs: 0, cpuMs: 0, ...child });
      return;
    }
    first = child.process;
    const limit = setTimeout(() => kill('timeout'), start.timeoutMs);
    for (const stream of streamNames) child.process[stream]?.on('data', report.push[stream]);
    const end = await waitForEnd(child.process);
    clearTimeout(limit);
    const durationMs = Math.round(performance.now() - startedAt);
    start.checkLimits();
    const isEnded = await allEnded();
    await drain(child.process);
    report.close({ ...end, killedFor: cause(), isEnded, durationMs });
    discardOutput(child.process);
  };
  return { mark, kill, ended: run() };
};

type NotStarted = { readonly exitCode: number | null; readonly startFailure: string | null };

const startProgram = (
  { argv, cwd, env, workspace, sharedPath, nodePath, isProcWritable, proxyPort }: CallStart,
  mark: number,
  report: CallReport,
): { readonly process: ChildProcess } | NotStarted => {
  const folder = cwd === undefined ? defaultFolder(workspace) : resolve(workspace, cwd);
  const refused = refuseFolder(folder, cwd) ?? refuseProgram(argv[0] ?? '', folder, searchPath(env ?? {}));
  if (refused !== undefined) {
    report.push.stderr(Buffer.from(refused.message));
    return { exitCode: refused.exitCode, startFailure: null };
  }
  try {
    const paths = { workspace, sharedPath, nodePath, isProcWritable, proxyPort };
    return { process: spawnMarked({ argv, ...paths, cwd: folder, variables: env ?? {} }, mark) };
  } catch (error) {
    // Its arguments are more than the kernel takes.
    return { exitCode: null, startFailure: error instanceof Error ? error.message : String(error) };
  }
};

type End = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly startFailure: string | null;
  readonly cpuMs: number;
};

const waitForEnd = (child: ChildProcess): Promise<End> =>
  new Promise((resolve) => {
    child.once('exit', (exitCode, signal) =>
      resolve({ exitCode, signal, startFailure: null, cpuMs: readNewChildrenCpuMs() }),
    );
    child.once('error', (error) => {
      if (child.pid !== undefined) return;
      resolve({ exitCode: null, signal: null, startFailure: error.message, cpuMs: 0 });
    });
  });

/** A background process keeps its stdout: it is read and dropped, since a closed pipe would kill it at its next line. */
const discardOutput = (child: ChildProcess): void => {
  for (const name of streamNames) child[name]?.removeAllListeners('data').resume();
};
