/** The wait before a model is asked again, as its provider says it or as it grows from try to try. Pure. */

const retriesMax = 3;
const firstWaitMs = 500;
/** A provider that asks for a longer wait fails the call instead, in milliseconds: a function waits all that time. */
export const modelWaitMsMax = 60_000;

export type PassingFault = {
  /** The number of the try that failed, from 1. */
  readonly attempt: number;
  /** The wait that the provider asks for, in milliseconds. */
  readonly askedMs: number | undefined;
};

/** Milliseconds to wait before the next try; undefined when the failure is final. */
export const modelWaitMs = ({ attempt, askedMs }: PassingFault): number | undefined => {
  if (attempt > retriesMax) return undefined;
  const waitMs = askedMs ?? firstWaitMs * 3 ** (attempt - 1);
  return waitMs > modelWaitMsMax ? undefined : waitMs;
};
