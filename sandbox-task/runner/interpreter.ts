/**
 * One interpreter: a user process that runs piece after piece of code and keeps what they define.
 *
 * Its stdout and stderr are read all its life, so that nothing that still holds them is killed by a closed pipe.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { createFrameReader, encodeFrame } from '../wire/frame.ts';
import type { InterpreterMessage, InterpreterRequest, Language } from '../wire/interpreter-messages.ts';
import { streamNames } from '../wire/messages.ts';
import { drain } from './call.ts';
import { markOption } from './call-processes.ts';
import { parseInterpreterMessage } from './interpreter-message.ts';
import { createMarkedStream, type MarkedStream } from './marked-stream.ts';
import { cpuMsOf, takeChildrenCpuMs } from './processor-time.ts';
import { spawnMarked, type UserPlace } from './user-process.ts';

export type InterpreterEnd = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly startFailure: string | null;
};
export type InterpreterListener = (message: InterpreterMessage, payload: Buffer) => void;
export type Interpreter = {
  readonly pid: number | undefined;
  /** Whether it ever ran code, and so had something to lose. */
  readonly hasStarted: () => boolean;
  readonly stdout: MarkedStream;
  readonly stderr: MarkedStream;
  readonly send: (request: InterpreterRequest, code: Buffer, listener: InterpreterListener) => void;
  /** Its processes of the next call are found by this mark. False when it cannot be had. */
  readonly takeMark: (mark: number) => Promise<boolean>;
  readonly signal: (name: NodeJS.Signals) => void;
  /** Of its whole life, and after its death for the last time. */
  readonly cpuMs: () => number;
  readonly died: Promise<InterpreterEnd>;
};

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const argvOf: Readonly<Record<Language, (place: UserPlace) => readonly string[]>> = {
  python: () => ['python3', beside('./python-interpreter.py')],
  node: ({ nodePath }) => [nodePath, beside('./node-interpreter.mjs')],
};

export const startInterpreter = (language: Language, place: UserPlace, mark: number): Interpreter => {
  const child = spawnMarked({ ...place, argv: argvOf[language](place), hasChannel: true }, mark);
  const streams = { stdout: createMarkedStream(), stderr: createMarkedStream() };
  for (const name of streamNames) child[name]?.on('data', streams[name].push);
  let listener: InterpreterListener = () => undefined;
  let isReady = false;
  let lastCpuMs: number | undefined;
  const signal = (name: NodeJS.Signals): void => {
    // Negative once its id may be somebody else's.
    if (child.exitCode === null && child.signalCode === null) child.kill(name);
  };
  const channel = openChannel(child, {
    hear: (message, payload) => {
      if (message.type === 'ready') isReady = true;
      else listener(message, payload);
    },
    refuse: () => signal('SIGKILL'),
  });
  const died = endOf(child).then((end) => {
    lastCpuMs = takeChildrenCpuMs();
    return end;
  });
  return {
    pid: child.pid,
    hasStarted: () => isReady,
    ...streams,
    send: (request, code, next) => {
      listener = next;
      channel.write(encodeFrame(request, code));
    },
    takeMark: (next) => setMark(child.pid, next),
    signal,
    cpuMs: () => lastCpuMs ?? cpuMsOf(child.pid ?? 0),
    died,
  };
};

const openChannel = (
  child: ChildProcess,
  { hear, refuse }: { readonly hear: InterpreterListener; readonly refuse: () => void },
): Duplex => {
  const channel = child.stdio[3] as Duplex;
  const read = createFrameReader(({ header, payload }) => hear(parseInterpreterMessage(header), payload));
  channel.on('data', (chunk: Buffer) => {
    try {
      read(chunk);
    } catch {
      // User code wrote on the pipe: nothing more of it can be understood.
      channel.removeAllListeners('data').resume();
      refuse();
    }
  });
  channel.on('error', () => undefined);
  return channel;
};

/** Its last output is read before its death is told. */
const endOf = (child: ChildProcess): Promise<InterpreterEnd> =>
  new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => {
      void drain(child).then(() => resolve({ exitCode, signal, startFailure: null }));
    });
    child.once('error', (error) => {
      if (child.pid === undefined) resolve({ exitCode: null, signal: null, startFailure: error.message });
    });
  });

const setMark = async (pid: number | undefined, mark: number): Promise<boolean> => {
  const setter = spawn('prlimit', [`--pid=${pid}`, markOption(mark)], { stdio: 'ignore' });
  try {
    const [code] = (await once(setter, 'exit')) as [number | null];
    return code === 0;
  } catch {
    // No process can be started: then none of the call's could be found either.
    return false;
  }
};
