/** What bounds schedules and their runs. The table is in docs/spec/schedules.md. */

/** Schedules of one project: one that runs in several counts in each. */
export const schedulesPerProjectMax = 50;
/** Projects and workspaces that one schedule runs in. */
export const scheduleTargetsMax = 10;
export const scheduleNameCharactersMax = 128;
export const schedulePromptBytesMax = 100 * 1024;
/** Characters of a prompt that a listing shows. */
export const promptExcerptCharactersMax = 1000;
/** Runs of one target that have not ended: whatever is over it is skipped. */
export const openRunsMax = 20;
/** Characters of what a run answered that its history keeps. */
export const runOutputCharactersMax = 1000;
/** Rows of history in one answer: what may be asked for, and what comes when nothing is. */
export const historyRowsMax = 100;
export const historyRowsDefault = 20;
/** The time that a row of history is kept, in milliseconds. */
export const runHistoryMs = 30 * 86_400_000;

/** EventBridge Scheduler invokes within this long of the asked moment, in milliseconds: what starts later is late. */
export const schedulePrecisionMs = 60_000;
/** A run that nobody has claimed by then is missed, in milliseconds: the scheduler's precision, and time for a retry. */
export const missedAfterMs = 90_000;
/** Nobody is asked to wake us for a moment that is nearer, in milliseconds: it may have passed when the answer comes. */
export const armMarginMs = 5000;
/** A next run that is not armed by then is armed by the sweep, in milliseconds. */
export const armGraceMs = 15_000;
/** A claimed run that is not started by then is started by the sweep, in milliseconds. */
export const startGraceMs = 30_000;
/** One that could not be started by then is given up, in milliseconds; one that waits for another has longer. */
export const startMsMax = 900_000;
export const queueMsMax = 86_400_000;
/** A run is first looked at, and at most left alone for so long, in milliseconds. */
export const runLookMsMin = 60_000;
export const runLookMsMax = 600_000;
/** A change that meets another is tried again so often. */
export const scheduleChangeTriesMax = 10;
/** Schedules that one sweep tends, and tends at once. */
export const schedulesDueMax = 200;
export const schedulesAtOnceMax = 10;
