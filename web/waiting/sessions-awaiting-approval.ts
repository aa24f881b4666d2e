/**
 * Calls that a person is asked about now, as the badge, the operator's tile and the lists count them: one for each session. The
 * calls behind it wait for their turn and are shown one after the other. Pure.
 */
import type { Session } from '#sdk/routes.ts';

type Asking = Pick<Session, 'pendingApprovals'>;

export const isAsking = ({ pendingApprovals }: Asking): boolean => pendingApprovals.length > 0;

/** When the call that has waited longest was asked about; undefined without one. Use of the sandbox does not move it. */
export const oldestAskedMs = (sessions: readonly Asking[]): number | undefined => {
  const times = sessions.flatMap(({ pendingApprovals: [first] }) =>
    first ? [Date.parse(first.askedAt)] : [],
  );
  return times.length === 0 ? undefined : Math.min(...times);
};

export const askedNow = (sessions: readonly Asking[]): number => sessions.filter(isAsking).length;
