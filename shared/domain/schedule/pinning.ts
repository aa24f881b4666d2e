/** The pinning table: the session in which a run sends its prompt. The caller that resumes handles a failed resume. */
import type { SessionStatus } from '../session.ts';
import { isEnded } from '../session.ts';
import type { SessionBehavior } from './schedule.ts';

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
