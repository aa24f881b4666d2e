/** What the server hears of a call: its output while it comes, in batches, and at the end how it went. */
import { type RunnerMessage, type StreamName, streamNames } from '../wire/messages.ts';
import { createOutputWindow } from './output-window.ts';

export type Send = (message: RunnerMessage, payload?: Buffer) => void;

type Exit = Extract<RunnerMessage, { type: 'exit' }>;
export type CallEnd = Pick<Exit, 'exitCode' | 'signal' | 'killedFor' | 'isGone' | 'durationMs' | 'cpuMs'> &
  Partial<Pick<Exit, 'startFailure' | 'stateLost' | 'errorLine' | 'displaysLeftOut'>> & {
    readonly displays?: readonly { readonly mimeType: string; readonly content: Buffer }[];
  };

export type CallReport = {
  readonly push: Readonly<Record<StreamName, (chunk: Buffer) => void>>;
  readonly close: (end: CallEnd) => void;
};

const progressBatchMs = 50;

export const openReport = (id: number, send: Send): CallReport => {
  const windows = { stdout: createOutputWindow(), stderr: createOutputWindow() };
  const show = (isEnd: boolean): void => {
    for (const stream of streamNames) {
      const shown = windows[stream].show(isEnd);
      if (shown) send({ type: 'output', id, stream, offset: shown.offset }, shown.bytes);
    }
  };
  const batches = setInterval(() => show(false), progressBatchMs);
  return {
    push: { stdout: windows.stdout.push, stderr: windows.stderr.push },
    close: ({ displays = [], ...end }) => {
      clearInterval(batches);
      show(true);
      const stdout = windows.stdout.close();
      const stderr = windows.stderr.close();
      send(
        {
          ...{ type: 'exit', id, startFailure: null, stateLost: false, errorLine: null, displaysLeftOut: 0 },
          ...end,
          stdout: stdout.summary,
          stderr: stderr.summary,
          displays: displays.map(({ mimeType, content }) => ({ mimeType, bytes: content.length })),
        },
        Buffer.concat([...stdout.parts, ...stderr.parts, ...displays.map(({ content }) => content)]),
      );
    },
  };
};
