/** The end of a call before its answer: by Ctrl-C, or because the program is ending. */
import { ended, exitCodes, failure } from './failure.ts';
import type { Host } from './host.ts';

/** The reason of the signal is the failure to report, with this message. */
export const abortable = (
  host: Host,
  message: string,
): { readonly signal: AbortSignal; readonly release: () => void } => {
  const abort = new AbortController();
  const interrupted = failure('interrupted', message, { exitCode: exitCodes.interrupted });
  const releases = [
    host.onInterrupt(() => abort.abort(interrupted)),
    host.onEnd((exitCode) => abort.abort(ended(exitCode))),
  ];
  return {
    signal: abort.signal,
    release: () => {
      for (const release of releases) release();
    },
  };
};
