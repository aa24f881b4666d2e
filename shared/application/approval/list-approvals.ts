/**
 * Lists the calls that wait for a person, over all sessions that a principal may decide in, the oldest first.
 *
 * Each is read from its turn: an entry whose call has been decided since is left out. Long arguments are cut and
 * marked; `findApproval` returns one whole.
 */

import { cutArguments } from '../../contracts/frames.ts';
import { decidableBy, mayWrite } from '../../domain/access.ts';
import type { LogEntry } from '../../domain/event-log.ts';
import type { SessionId } from '../../domain/ids.ts';
import { listedArgumentsBytesMax } from '../../domain/limits.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import { approvalRequest } from '../../domain/turn/call-queue.ts';
import type { TurnRecord } from '../../domain/turn/turn.ts';
import { isAsked, waitingCall } from '../../domain/turn/waiting-call.ts';
import { AppError } from '../../errors.ts';
import { findProject } from '../access/find-project.ts';
import type { Deps } from '../deps.ts';

export type ApprovalSearch = {
  readonly principal: Principal;
  readonly project?: string | undefined;
  readonly after?: string | undefined;
  readonly itemsMax: number;
};

type Request = Extract<LogEntry, { type: 'tool:approval_required' }>['data'];

export type ListedApproval = Request & {
  readonly sessionId: SessionId;
  readonly title: string;
  readonly project: Session['project'];
  readonly argsTruncated?: true;
};

export const listApprovals = async (
  ports: Deps<'approvals' | 'turns' | 'projects'>,
  { principal, project, after, itemsMax }: ApprovalSearch,
): Promise<{ readonly approvals: readonly ListedApproval[]; readonly next?: string }> => {
  const decidable = decidableBy(principal);
  const named =
    project === undefined
      ? {}
      : { project: (await findProject(ports.projects, { id: project, principal, intent: 'read' })).id };
  if (decidable === undefined) return { approvals: [] };
  const { waiting, ...rest } = await ports.approvals.list({ ...decidable, ...named }, { after, itemsMax });
  const found = await ports.turns.getManyWithTurn(waiting.map(({ sessionId }) => sessionId));
  const byId = new Map(found.map((one) => [one.session.id, one]));
  const approvals = waiting.flatMap(({ sessionId }) => {
    const one = byId.get(sessionId);
    return one !== undefined && mayWrite(principal, one.session) ? listed(one) : [];
  });
  return { approvals, ...rest };
};

const listed = ({ session, turn: { state } }: Found): readonly ListedApproval[] => {
  const call = waitingCall(state);
  if (call === undefined || state.kind !== 'deciding') return [];
  const { data } = approvalRequest(state.turnId, call, state.calls);
  const args = cutArguments(data.args, listedArgumentsBytesMax);
  return [
    {
      sessionId: session.id,
      title: session.title ?? '',
      project: session.project,
      ...data,
      args,
      ...(args === data.args ? {} : { argsTruncated: true as const }),
    },
  ];
};

type Found = { readonly session: Session; readonly turn: TurnRecord };

/** One waiting call, whole. Throws `not_found` for one that does not wait. */
export const findApproval = ({ turn: { state } }: Found, callId: string): Request => {
  const calls = state.kind === 'deciding' ? state.calls : [];
  const call = calls.find((other) => other.callId === callId && isAsked(other));
  if (call !== undefined && state.kind === 'deciding') return approvalRequest(state.turnId, call, calls).data;
  throw new AppError('not_found', 'no such call is pending', {
    suggestions: ['GET /api/approvals lists the calls that wait.'],
  });
};
