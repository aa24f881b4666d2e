/** What a run does while others of its target have not ended: the overlap table, decided before anything is started. */
import { openRunsMax } from './limits.ts';
import type { OverlapBehavior, SessionBehavior } from './schedule.ts';

/**
 * `start`: as the pinning table says. `follow`: the message waits in the inbox of the pinned session. `wait`: it is
 * looked at again when the former ones have ended. `beside`: a session of its own, to which nothing is pinned.
 */
export type OverlapStep = 'start' | 'follow' | 'wait' | 'beside' | 'skip';

export type Crowd = {
  /** Runs of the same target that came before and have not ended. */
  readonly openBefore: number;
  /** True when the pinned session takes messages. */
  readonly isPinActive: boolean;
};

export const overlapStep = (
  { overlap, sessions }: { readonly overlap: OverlapBehavior; readonly sessions: SessionBehavior },
  { openBefore, isPinActive }: Crowd,
): OverlapStep => {
  if (openBefore === 0) return 'start';
  if (openBefore >= openRunsMax) return 'skip';
  switch (overlap) {
    case 'skip':
      return 'skip';
    case 'queue':
      return sessions === 'resume' && isPinActive ? 'follow' : 'wait';
    case 'parallel':
      return sessions === 'resume' ? 'beside' : 'start';
  }
};

export const overlapProblem = ({ openBefore }: Pick<Crowd, 'openBefore'>): string =>
  openBefore >= openRunsMax ? `${openRunsMax} earlier runs have not ended` : 'an earlier run has not ended';
