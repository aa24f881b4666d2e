/**
 * The processes of the sandbox by their ids: each is started once, and its output, its end and its result are kept
 * within bounds after the request that started it. Guarantee W14 of docs/spec/sandbox.md.
 */
import { constants } from 'node:os';
import type { ProcessSpec, ProcessStream } from '../../wire/process-messages.ts';
import type { LogRing } from '../logs.ts';
import type { MemoryWatch } from '../memory-watch.ts';
import { Refusal } from '../refusal.ts';
import type { ProcessControl, UserSide } from '../user-side.ts';
import { createProcessLog, type ProcessLog } from './process-log.ts';
import { type Capture, createCapture, type ProcessEnd } from './process-result.ts';

export type ProcessEntry = {
  readonly processId: string;
  readonly command: string;
  readonly isPty: boolean;
  readonly startedAt: number;
  readonly log: ProcessLog;
  readonly isAwaited: boolean;
  readonly control: ProcessControl;
  readonly pid: number;
  /** Resolves with its end, whatever that is. */
  readonly ended: Promise<void>;
  /** Absent: its result is not waited for, or it is no longer kept. */
  capture: Capture | undefined;
  /** Readers that follow its output. */
  attached: number;
  /** Requests that wait for its end, and those whose next one is expected. */
  waiting: number;
  end: ProcessEnd | undefined;
  /** The runner that had started it has ended. */
  isLost: boolean;
  endedAt: number | undefined;
};

type ProcessStart = {
  readonly id: string;
  readonly command: string;
  readonly spec: ProcessSpec;
  readonly input: Buffer;
  readonly isAwaited: boolean;
};

export type ProcessRegistry = {
  /** A repeated id gives the first process. */
  readonly start: (start: ProcessStart) => Promise<ProcessEntry>;
  readonly find: (id: string) => ProcessEntry;
  readonly list: () => readonly ProcessEntry[];
  /** Calls that run: of tools, and programs whose client waits for their end or follows them from their start. */
  readonly calls: () => number;
  /** True while a client waits for a program or follows one, also between two of its requests. */
  readonly isServed: () => boolean;
};

type RegistryParts = {
  readonly userSide: UserSide;
  readonly memory: MemoryWatch;
  readonly logRing: LogRing;
  /** All calls that run now. */
  readonly running: Set<object>;
};

const runningMax = 64;
const rememberedMax = 200;
const endedBytesMax = 16 * 1_048_576;
const memoryWatchMs = 100;

export const createProcessRegistry = (parts: RegistryParts): ProcessRegistry => {
  // A Map keeps the order of insertion: its first entry is the oldest.
  const entries = new Map<string, Promise<ProcessEntry>>();
  const known = new Map<string, ProcessEntry>();
  let starting = 0;
  const running = (): readonly ProcessEntry[] =>
    [...known.values()].filter(({ endedAt }) => endedAt === undefined);

  const makeRoom = (): void => {
    const ended = [...known.values()].filter(({ endedAt }) => endedAt !== undefined);
    for (const { processId } of ended.slice(0, Math.max(0, known.size - rememberedMax))) {
      known.delete(processId);
      entries.delete(processId);
    }
    let held = ended.reduce((sum, entry) => sum + bytesHeldBy(entry), 0);
    for (const entry of ended.toSorted((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0))) {
      if (held <= endedBytesMax) return;
      held -= bytesHeldBy(entry);
      entry.log.drop();
      entry.capture = undefined;
    }
  };

  const open = async (start: ProcessStart): Promise<ProcessEntry> => {
    if (running().length + starting >= runningMax)
      throw new Refusal('resource_limit_exceeded', `${runningMax} processes run already`);
    starting += 1;
    try {
      const entry = await startEntry(parts, start);
      known.set(start.id, entry);
      void entry.ended.then(makeRoom);
      makeRoom();
      return entry;
    } finally {
      starting -= 1;
    }
  };

  return {
    start: async (start) => {
      const first = entries.get(start.id);
      if (first !== undefined) return first;
      const opened = open(start);
      entries.set(start.id, opened);
      // One that could not be started may be started again.
      opened.catch(() => entries.delete(start.id));
      return opened;
    },
    find: (id) => {
      const entry = known.get(id);
      if (entry === undefined) throw new Refusal('not_found', 'there is no such process');
      return entry;
    },
    list: () => [...known.values()],
    calls: () => {
      const processes = running();
      const ofProcesses = new Set<object>(processes.map(({ control }) => control));
      const tools = [...parts.running].filter((one) => !ofProcesses.has(one));
      return tools.length + processes.filter(isCall).length;
    },
    isServed: () => running().some(({ waiting, attached }) => waiting + attached > 0),
  };
};

/** Only a program of `/exec` is awaited; once its request was answered it is a process like others. */
const isCall = ({ isAwaited, waiting, attached }: ProcessEntry): boolean =>
  waiting > 0 || (isAwaited && attached > 0);

const bytesHeldBy = ({ log, capture }: ProcessEntry): number => log.bytesHeld() + (capture?.bytesHeld() ?? 0);

const startEntry = async (
  { userSide, memory, logRing, running }: RegistryParts,
  { id, command, spec, input, isAwaited }: ProcessStart,
): Promise<ProcessEntry> => {
  const log = createProcessLog();
  const capture = isAwaited ? createCapture() : undefined;
  const watched = memory.begin();
  const onOutput = (stream: ProcessStream, chunk: Buffer): void => {
    log.append(stream, chunk);
    capture?.push(stream, chunk);
  };
  const started = await userSide.startProcess({ spec, input, onOutput }).catch((cause: unknown) => {
    watched.end();
    throw cause;
  });
  running.add(started);
  const watch = setInterval(() => {
    if (watched.isCharged()) started.kill('memory');
  }, memoryWatchMs);
  const over = Promise.withResolvers<void>();
  const entry: ProcessEntry = {
    ...{ processId: id, command, log, capture, isAwaited, pid: started.pid, control: started },
    ...{ isPty: spec.pty !== undefined, startedAt: Date.now(), ended: over.promise },
    ...{ attached: 0, waiting: 0, end: undefined, isLost: false, endedAt: undefined },
  };
  const finish = (end: ProcessEnd | undefined): void => {
    clearInterval(watch);
    watched.end();
    running.delete(started);
    entry.end = end === undefined ? lostEnd : { ...end, exitCode: exitCodeOf(end) };
    entry.isLost = end === undefined;
    entry.endedAt = Date.now();
    const cause = entry.end.killedFor;
    if (cause !== null && cause !== 'cancelled') logRing.add('lifecycle', `a process was killed: ${cause}`);
    log.close();
    over.resolve();
  };
  started.ended.then(
    (end) => {
      const isKilled = end.signal === 'SIGKILL' && end.killedFor === null;
      finish(watched.wasOutOfMemory(isKilled) ? { ...end, killedFor: 'memory' } : end);
    },
    () => finish(undefined),
  );
  return entry;
};

/** A shell answers 128 plus the number for a program that a signal ended (bash(1), EXIT STATUS). */
const signalExitBase = 128;
/** The code of timeout(1) for a program that it ended; of a shell for one that SIGKILL ended, or that cannot be run. */
const timeoutExitCode = 124;
const killedExitCode = 137;
const notRunExitCode = 126;

const exitCodeOf = ({ exitCode, signal, killedFor }: ProcessEnd): number => {
  if (killedFor !== null) return killedFor === 'timeout' ? timeoutExitCode : killedExitCode;
  if (exitCode !== null) return exitCode;
  return signal === null
    ? notRunExitCode
    : signalExitBase + (constants.signals[signal as NodeJS.Signals] ?? 0);
};

/** All user processes were killed with their runner. */
const lostEnd: ProcessEnd = {
  ...{ exitCode: null, signal: 'SIGKILL', killedFor: null, durationMs: 0, startFailure: null },
};
