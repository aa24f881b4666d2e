/**
 * The output of a process, read as fast as the server takes it.
 *
 * After its end the pipes are read until they close or fall silent: a process in the background may hold them.
 */
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { ProcessStream } from '../../wire/process-messages.ts';
import { closeWithin } from '../last-output.ts';
import type { Flow } from './flow.ts';

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
