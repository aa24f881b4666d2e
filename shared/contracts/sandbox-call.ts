/** Names in the `_meta` of a call of the sandbox's tools, and of its answer; and of headers of its answers. */

/** The id under which the sandbox keeps the result. */
export const callIdMeta = 'dev.sallyport/callId';
/** Milliseconds after which the sandbox answers although the call still runs. */
export const waitMeta = 'dev.sallyport/waitMs';
/** True in an answer: the call still runs. */
export const runningMeta = 'dev.sallyport/isRunning';

/** Marks a refusal by the sandbox's server: a program in the sandbox cannot set it. */
export const refusalHeader = 'x-sallyport-refusal';

/** Behind a checkpoint: the number of the newest line of the sandbox's log, 0 without one. Absent: ask for the lines. */
export const logNumberTrailer = 'x-sallyport-log-number';
