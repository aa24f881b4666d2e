/**
 * The platform's call of a tool in a sandbox: the events of its answer, names in the `_meta` of the same call over MCP, and headers of
 * the sandbox's answers.
 */

/** A piece of what a running program printed, at its offset in the stream, in characters. */
export type CallOutput = {
  readonly stream: 'stdout' | 'stderr';
  readonly offset: number;
  readonly text: string;
};

/**
 * One event of the answer to `POST /calls/{id}`, a stream of server-sent events whose data is JSON. The last one has `result`, or
 * `isRunning` where the time to wait was over.
 */
export type CallEvent =
  | { readonly output: CallOutput }
  /** A program of the sandbox waits for the relay, which nothing holds. */
  | { readonly isRelayWanted: true }
  | { readonly isRunning: true }
  /** As MCP's `tools/call` gives it. `asSaved`: as `asSavedHeader` has it, of this moment. */
  | { readonly result: object; readonly asSaved?: number };

/** The id under which the sandbox keeps the result. */
export const callIdMeta = 'dev.sallyport/callId';
/** Milliseconds after which the sandbox answers although the call still runs. */
export const waitMeta = 'dev.sallyport/waitMs';
/** True in an answer: the call still runs. */
export const runningMeta = 'dev.sallyport/isRunning';

/** Marks a refusal by the sandbox's server: a program in the sandbox cannot set it. */
export const refusalHeader = 'x-sallyport-refusal';

/** With a request that works in the sandbox: the checkpoint that its workspace had before. */
export const savedAsHeader = 'x-sallyport-saved-as';

/**
 * In the answer: the workspace is as that checkpoint has it, so that no save has anything to do but fetch the lines of the sandbox's log,
 * whose newest has this number.
 */
export const asSavedHeader = 'x-sallyport-as-saved';

/** Behind a checkpoint: the number of the newest line of the sandbox's log, 0 without one. Absent: ask for the lines. */
export const logNumberTrailer = 'x-sallyport-log-number';
