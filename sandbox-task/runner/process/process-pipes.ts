/**
 * The pipes of a process: its input, signals and terminal size, and its output, read as fast as the server takes it.
 *
 * After its end the pipes are read until they close or fall silent: a process in the background may hold them.
 */
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Duplex, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { type ProcessStream, type TerminalSize, waitingInputBytesMax } from '../../wire/process-messages.ts';
import { closeWithin } from '../last-output.ts';
import { FileRefusal } from '../workspace-path.ts';
import type { Flow } from './flow.ts';

export type ProcessControls = {
  readonly write: (bytes: Buffer, isLast: boolean) => Promise<void>;
  readonly signal: (name: string) => void;
  readonly resize: (size: TerminalSize) => void;
};

export const controls = (child: ChildProcess, hasTerminal: boolean): ProcessControls => {
  const { stdin } = child;
  const channel = hasTerminal ? (child.stdio[3] as Duplex) : undefined;
  // It may close its stdin, or end, at any moment.
  for (const stream of [stdin, channel]) stream?.on('error', () => undefined);
  const requireRunning = (): void => {
    if (child.exitCode !== null || child.signalCode !== null) throw over();
  };
  return {
    write: async (bytes, isLast) => {
      if (stdin === null) return;
      if (bytes.length > 0) {
        requireRunning();
        if (stdin.writableEnded) throw new FileRefusal('conflict', 'the stdin of the process is closed');
        if (stdin.writableLength > 0 && stdin.writableLength + bytes.length > waitingInputBytesMax)
          throw notRead();
        await written(stdin, bytes);
      }
      if (isLast && !stdin.writableEnded) stdin.end();
    },
    signal: (name) => {
      requireRunning();
      const number = constants.signals[name as NodeJS.Signals];
      if (channel !== undefined) channel.write(`signal ${number}\n`);
      else if (child.pid !== undefined) process.kill(-child.pid, name);
    },
    resize: ({ cols, rows }) => {
      if (channel === undefined) throw new FileRefusal('invalid_request', 'the process has no terminal');
      requireRunning();
      channel.write(`size ${cols} ${rows}\n`);
    },
  };
};

/** Resolves when the process has read it, or after a while: then it waits in memory. */
const written = (stdin: NodeJS.WritableStream, bytes: Buffer): Promise<unknown> =>
  Promise.race([new Promise<void>((done) => stdin.write(bytes, () => done())), delay(writeMsMax)]);

const writeMsMax = 5000;

const over = (): FileRefusal => new FileRefusal('conflict', 'the process has ended');
const notRead = (): FileRefusal =>
  new FileRefusal(
    'resource_limit_exceeded',
    `the process does not read its stdin: ${waitingInputBytesMax} bytes wait`,
  );

export const noProcess: ProcessControls = {
  write: () => Promise.reject(over()),
  signal: () => {
    throw over();
  },
  resize: () => {
    throw over();
  },
};

type Reading = {
  readonly flow: Flow;
  readonly hasTerminal: boolean;
  readonly show: (stream: ProcessStream, bytes: Buffer) => void;
};

export const followOutput = (child: ChildProcess, { flow, hasTerminal, show }: Reading) => {
  let lastAt = 0;
  const stops: (() => void)[] = [];
  const sources: Readable[] = [];
  const follow = (source: Readable | null, stream: ProcessStream): void => {
    if (source === null) return;
    sources.push(source);
    const take = (chunk: Buffer): void => {
      lastAt = performance.now();
      show(stream, chunk);
    };
    stops.push(flow.read(source, take));
  };
  follow(child.stdout, hasTerminal ? 'pty' : 'stdout');
  // The helper of a terminal says nothing there.
  follow(child.stderr, hasTerminal ? 'pty' : 'stderr');
  return {
    rest: async (): Promise<void> => {
      await untilQuiet(sources, { flow, lastAt: () => lastAt });
      for (const stop of stops) stop();
      // A background process may print on: a closed pipe would kill it at its next line.
      for (const source of sources) source.resume();
    },
  };
};

type Quiet = { readonly flow: Flow; readonly lastAt: () => number };

const untilQuiet = async (sources: readonly Readable[], { flow, lastAt }: Quiet): Promise<void> => {
  for (let waitedMs = 0; waitedMs < restMsMax; waitedMs += flow.isPaused() ? 0 : silenceMs) {
    const pauses = flow.pauses();
    const isPaused = flow.isPaused();
    if (await closeWithin(sources, silenceMs)) return;
    // While the server took nothing, no pipe was read.
    if (isPaused || flow.pauses() > pauses) continue;
    if (performance.now() - lastAt() >= silenceMs) return;
  }
};

const silenceMs = 50;
const restMsMax = 2000;
