/**
 * The overlap table: decides what a run does while other runs of its target are open. Pure, and applied before
 * anything is started.
 */
import { openRunsMax } from './limits.ts';
import type { OverlapBehavior, SessionBehavior } from './schedule.ts';

/**
 * `start`: as the pinning table decides. `follow`: the message waits in the inbox of the pinned session. `wait`:
 * it is checked again when the earlier ones have ended. `beside`: a session of its own, to which nothing is
 * pinned.
 */
export type OverlapStep = 'start' | 'follow' | 'wait' | 'beside' | 'skip';

export type Crowd = {
  /** Earlier runs of the same target that have not ended. */
  readonly openBefore: number;
  /** True when the pinned session accepts messages. */
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
