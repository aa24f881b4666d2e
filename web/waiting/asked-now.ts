/**
 * Calls that a person is asked about now, as the badge, the operator's tile and the lists count them: one a session. The calls
 * behind it wait for their turn, and are asked about one after the other. Pure.
 */
import type { Session } from '#sdk/routes.ts';

type Asking = Pick<Session, 'pendingApprovals'>;

export const isAsking = ({ pendingApprovals }: Asking): boolean => pendingApprovals.length > 0;

export const askedNow = (sessions: readonly Asking[]): number => sessions.filter(isAsking).length;
