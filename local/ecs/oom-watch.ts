/**
 * Whether a sandbox died of its memory, or was killed otherwise after a call of its was.
 *
 * The kernel's counter only rises, and a call that was killed for its memory leaves it risen while the
 * sandbox lives on; so what counts is a rise within the last moments before the end.
 */
import { constants } from 'node:os';

export type OomWatch = {
  /** Ends the watch; true when the kernel killed for memory just now. */
  readonly end: () => boolean;
};

/** A rise is recent for one to two of these. */
const sampleEveryMs = 500;

export const watchOutOfMemory = (oomKills: () => number): OomWatch => {
  let earlier = oomKills();
  let latest = earlier;
  const timer = setInterval(() => {
    earlier = latest;
    latest = oomKills();
  }, sampleEveryMs);
  timer.unref();
  return {
    end: () => {
      clearInterval(timer);
      return oomKills() > earlier;
    },
  };
};

/** As a shell and Docker count it. */
export const exitCodeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? 128 + constants.signals[signal ?? 'SIGKILL'];

export const killedExit = 137;
