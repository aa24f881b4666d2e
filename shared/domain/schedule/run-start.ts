/**
 * The start of a run, as two tables: what it does while other runs of its target are open (overlap), and the session in
 * which it continues (pinning). Pure, and applied before anything is started.
 */

import { isEnded, type SessionStatus } from '../session.ts';
import { openRunsMax } from './limits.ts';
import type { OverlapBehavior, SessionBehavior } from './schedule.ts';

/**
 * `start`: as the pinning table decides. `follow`: the message waits in the inbox of the pinned session. `wait`:
 * it is checked again when the earlier ones have ended. `beside`: a session of its own, to which nothing is
 * pinned.
 */
export type OverlapStep = 'start' | 'follow' | 'wait' | 'beside' | 'skip';

type Crowd = {
  /** Runs of the same target that have not ended and were due earlier, or have begun. */
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

/** `gone`: it was pinned, and its record is deleted. */
export type PinnedState = 'none' | 'active' | 'ended' | 'gone';

/** `resume` continues from an ended session; when that fails the run spawns. Every spawn and resume is pinned. */
export type PinStep = 'spawn' | 'message' | 'resume';

export const pinnedState = (
  pin: unknown,
  session: { readonly status: SessionStatus } | undefined,
): PinnedState => {
  if (pin === undefined) return 'none';
  if (session === undefined) return 'gone';
  return isEnded(session.status) ? 'ended' : 'active';
};

const steps: Readonly<Record<SessionBehavior, Readonly<Record<PinnedState, PinStep>>>> = {
  resume: { none: 'spawn', active: 'message', ended: 'resume', gone: 'spawn' },
  new: { none: 'spawn', active: 'spawn', ended: 'spawn', gone: 'spawn' },
};

export const pinStep = (behavior: SessionBehavior, state: PinnedState): PinStep => steps[behavior][state];
