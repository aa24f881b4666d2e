/** The input, the signals and the terminal size of a process. */
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { type TerminalSize, waitingInputBytesMax } from '../../wire/process-messages.ts';
import { FileRefusal } from '../workspace-path.ts';

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
