/**
 * The call: one program of the user, from its start to its result.
 *
 * It ends with its first process; background processes live on. Over a limit or cancelled, every process of it is
 * killed, and the result names the cause.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type KillCause, streamNames } from '../wire/messages.ts';
import { type CallReport, openReport, type Send } from './call-output.ts';
import { killMarked, markOf, readNewChildrenCpuMs } from './call-processes.ts';
import { refuseProgram, type SandboxPaths, spawnMarked } from './user-process.ts';

type CallStart = SandboxPaths & {
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

/** The last bytes are awaited for this long while a background process holds the pipe open, in milliseconds. */
const drainMsMax = 50;

export const startCall = (start: CallStart, send: Send): Call => {
  const mark = markOf(start.id);
  let killedFor: KillCause | null = null;
  let allEnded: Promise<boolean> = Promise.resolve(true);
  const kill = (cause: KillCause): void => {
    if (killedFor !== null) return;
    killedFor = cause;
    allEnded = killMarked(mark);
  };
  const run = async (): Promise<void> => {
    const startedAt = performance.now();
    const report = openReport(start.id, send);
    const child = startProgram(start, mark, report);
    if ('exitCode' in child) {
      report.close({ signal: null, killedFor, isEnded: true, durationMs: 0, cpuMs: 0, ...child });
      return;
    }
    const limit = setTimeout(() => kill('timeout'), start.timeoutMs);
    for (const stream of streamNames) child.process[stream]?.on('data', report.push[stream]);
    const end = await waitForEnd(child.process);
    clearTimeout(limit);
    const durationMs = Math.round(performance.now() - startedAt);
    start.checkLimits();
    const isEnded = await allEnded;
    await drain(child.process);
    report.close({ ...end, killedFor, isEnded, durationMs });
    discardOutput(child.process);
  };
  return { mark, kill, ended: run() };
};

type NotStarted = { readonly exitCode: number | null; readonly startFailure: string | null };

const startProgram = (
  { argv, workspace, sharedPath, nodePath, isProcWritable }: CallStart,
  mark: number,
  report: CallReport,
): { readonly process: ChildProcess } | NotStarted => {
  const refused = refuseProgram(argv[0] ?? '', workspace);
  if (refused !== undefined) {
    report.push.stderr(Buffer.from(refused.message));
    return { exitCode: refused.exitCode, startFailure: null };
  }
  try {
    return { process: spawnMarked({ argv, workspace, sharedPath, nodePath, isProcWritable }, mark) };
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

/** The pipes are read to their end, unless something left in the background keeps them open. */
export const drain = async (child: ChildProcess): Promise<void> => {
  const open = streamNames.flatMap((name) => {
    const stream = child[name];
    return stream && !stream.readableEnded && !stream.destroyed ? [once(stream, 'close')] : [];
  });
  await Promise.race([Promise.all(open), delay(drainMsMax)]);
};

/** A background process keeps its stdout: it is read and dropped, since a closed pipe would kill it at its next line. */
const discardOutput = (child: ChildProcess): void => {
  for (const name of streamNames) child[name]?.removeAllListeners('data').resume();
};
