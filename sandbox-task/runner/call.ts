/**
 * The call: one program of the user, from its start to its result.
 *
 * It ends when its first process ends; what that left in the background lives on. When it hits a limit
 * or is cancelled, every process of it is killed and the result says why. User processes start with
 * oom_score_adj 1000: the kernel takes them before anything of ours.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type KillCause, type RunnerMessage, type StreamName, streamNames } from '../wire/messages.ts';
import { killMarked, markOption } from './call-processes.ts';
import { createOutputWindow } from './output-window.ts';

export type Send = (message: RunnerMessage, payload?: Buffer) => void;
export type CallStart = {
  readonly id: number;
  readonly argv: readonly string[];
  readonly timeoutMs: number;
  readonly workspace: string;
};
export type Call = {
  /** By which its processes are found again. */
  readonly mark: number;
  readonly kill: (cause: KillCause) => void;
  readonly ended: Promise<void>;
};

const progressBatchMs = 50;
/** How long the last bytes are waited for while a background process holds the pipe open, in milliseconds. */
const drainMsMax = 50;
const markBase = 1_000_000;
const userOomScore = 1000;
const runnerOomScore = 500;
/** The clock tick of `/proc/<pid>/stat`: 100 per second on every Linux we run on (proc(5), sysconf(3)). */
const millisecondsPerTick = 10;

export const startCall = (start: CallStart, send: Send): Call => {
  const mark = markBase + start.id;
  const windows = { stdout: createOutputWindow(), stderr: createOutputWindow() };
  let killedFor: KillCause | null = null;
  let gone: Promise<boolean> = Promise.resolve(true);
  const kill = (cause: KillCause): void => {
    if (killedFor !== null) return;
    killedFor = cause;
    gone = killMarked(mark);
  };

  const show = (stream: StreamName, isEnd = false): void => {
    const shown = windows[stream].show(isEnd);
    if (shown) send({ type: 'output', id: start.id, stream, offset: shown.offset }, shown.bytes);
  };
  const run = async (): Promise<void> => {
    const startedAt = performance.now();
    const cpuBefore = childrenCpuMs();
    const child = spawnMarked(start, mark);
    const batches = setInterval(() => {
      for (const stream of streamNames) show(stream);
    }, progressBatchMs);
    const limit = setTimeout(() => kill('timeout'), start.timeoutMs);
    for (const stream of streamNames) child[stream]?.on('data', windows[stream].push);
    const end = await waitForEnd(child);
    clearTimeout(limit);
    const durationMs = Math.round(performance.now() - startedAt);
    const isGone = await gone;
    await drain(child);
    clearInterval(batches);
    for (const stream of streamNames) show(stream, true);
    const stdout = windows.stdout.close();
    const stderr = windows.stderr.close();
    send(
      {
        type: 'exit',
        id: start.id,
        ...end,
        killedFor,
        isGone,
        durationMs,
        cpuMs: childrenCpuMs() - cpuBefore,
        stdout: stdout.summary,
        stderr: stderr.summary,
      },
      Buffer.concat([...stdout.parts, ...stderr.parts]),
    );
    letGo(child);
  };
  return { mark, kill, ended: run() };
};

type End = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly startFailure: string | null;
};

/** `prlimit` sets the mark and replaces itself by the program; a program that is not there gives its 127. */
const spawnMarked = ({ argv, workspace }: CallStart, mark: number): ChildProcess => {
  // A child inherits the score at its fork, and the runner may lower its own again down to where it began.
  writeFileSync('/proc/self/oom_score_adj', String(userOomScore));
  try {
    return spawn('prlimit', [markOption(mark), '--', ...argv], {
      cwd: workspace,
      // A session of its own: `kill 0` in user code does not reach the runner.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: userEnvironment(workspace),
    });
  } finally {
    writeFileSync('/proc/self/oom_score_adj', String(runnerOomScore));
  }
};

/** The whole environment of user code: nothing of ours is in it. */
const userEnvironment = (workspace: string): Record<string, string> => ({
  PATH: '/opt/sallyport/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: workspace,
  LANG: 'C.UTF-8',
  TMPDIR: '/tmp',
  USER: 'sandbox',
  SHELL: '/bin/bash',
});

const waitForEnd = (child: ChildProcess): Promise<End> =>
  new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal, startFailure: null }));
    child.once('error', (error) => {
      if (child.pid === undefined) resolve({ exitCode: null, signal: null, startFailure: error.message });
    });
  });

/** The pipes are read to their end, unless something left in the background keeps them open. */
const drain = async (child: ChildProcess): Promise<void> => {
  const open = streamNames.flatMap((name) => {
    const stream = child[name];
    return stream && !stream.readableEnded && !stream.destroyed ? [once(stream, 'close')] : [];
  });
  await Promise.race([Promise.all(open), delay(drainMsMax)]);
};

/** A background process keeps its stdout: reading goes on to nowhere, since a closed pipe would kill it at its next line. */
const letGo = (child: ChildProcess): void => {
  for (const name of streamNames) child[name]?.removeAllListeners('data').resume();
};

/** The processor time of all children that ended so far: fields 16 and 17 of `/proc/self/stat` (proc(5)). */
const childrenCpuMs = (): number => {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * millisecondsPerTick;
};
