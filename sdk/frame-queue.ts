/**
 * Frames between the connection that brings them and the program that takes them.
 *
 * Events of the log all wait for a slow program, and the log bounds their number; pieces of text and output that a later
 * event repeats whole are dropped when many wait.
 */
import type { Frame } from './frames.ts';

const liveFramesMax = 1000;
const liveTypes: readonly Frame['type'][] = ['delta', 'reasoning_delta', 'tool:progress'];

export type FrameQueue = {
  readonly add: (frame: Frame) => void;
  /** Nothing comes after what waits: an error, or the end. */
  readonly close: (error?: unknown) => void;
  /** The next frame; undefined at the end. */
  readonly next: () => Promise<Frame | undefined>;
};

export const makeFrameQueue = (): FrameQueue => {
  const waiting: Frame[] = [];
  let wake = (): void => undefined;
  let end: { readonly error?: unknown } | undefined;
  return {
    add: (frame) => {
      if (end !== undefined || (waiting.length >= liveFramesMax && liveTypes.includes(frame.type))) return;
      waiting.push(frame);
      wake();
    },
    close: (error) => {
      end ??= error === undefined ? {} : { error };
      wake();
    },
    next: async () => {
      while (waiting.length === 0 && end === undefined)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      const frame = waiting.shift();
      if (frame === undefined && end?.error !== undefined) throw end.error;
      return frame;
    },
  };
};
