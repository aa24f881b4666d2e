/** The limits of schedules and their runs. The table is in docs/spec/schedules.md. */

/** Schedules of one project: one that runs in several counts in each. */
export const schedulesPerProjectMax = 50;
/** Projects and workspaces that one schedule runs in. */
export const scheduleTargetsMax = 10;
export const scheduleNameCharactersMax = 128;
export const schedulePromptBytesMax = 100 * 1024;
/** Characters of a prompt that a listing shows. */
export const promptExcerptCharactersMax = 1000;
/** Open runs of one target: any further one is skipped. */
export const openRunsMax = 20;
/** Characters of a run's answer that its history stores. */
export const runOutputCharactersMax = 1000;
/** Rows of history in one answer: the maximum, and the default. */
export const historyRowsMax = 100;
export const historyRowsDefault = 20;
/** The retention of a row of history, in milliseconds. */
export const runHistoryMs = 30 * 86_400_000;

/** EventBridge Scheduler invokes within this long of the scheduled time, in milliseconds: a later start is late. */
export const schedulePrecisionMs = 60_000;
/** The age at which an unclaimed run is missed, in milliseconds: the scheduler's precision, and time for a retry. */
export const missedAfterMs = 90_000;
/**
 * No invocation is scheduled for a time that is nearer than this, in milliseconds: it may have passed when the
 * answer comes.
 */
export const armMarginMs = 5000;
/** The age at which the sweep arms a next run, in milliseconds. */
export const armGraceMs = 15_000;
/** The age at which the sweep starts a claimed run, in milliseconds. */
export const startGraceMs = 30_000;
/**
 * The age at which a run that could not be started is given up, in milliseconds; one that waits for another has
 * longer.
 */
export const startMsMax = 900_000;
export const queueMsMax = 86_400_000;
/** The shortest and the longest interval between two checks of a run, in milliseconds. */
export const runLookMsMin = 60_000;
export const runLookMsMax = 600_000;
/** Schedules that a sweep reads, and those that it dispatches, at once. */
export const schedulesDueMax = 200;
export const schedulesAtOnceMax = 10;
