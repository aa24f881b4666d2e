/** A session as REST shows it. */
import type { Workspace } from '#shared/domain/sandbox.ts';
import type { Session } from '#shared/domain/session.ts';
import { approvalRequest } from '#shared/domain/turn/calls.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';

type Seen = {
  readonly turn: TurnRecord | undefined;
  readonly workspace: Workspace | undefined;
  readonly now: number;
  readonly idleMs: number;
};

const iso = (epochMs: number): string => new Date(epochMs).toISOString();

export const sessionView = (session: Session, { turn, workspace, now, idleMs }: Seen) => ({
  id: session.id,
  kind: session.kind,
  status: session.status,
  project: session.project,
  workspace: session.workspace,
  flavor: session.flavor,
  template: session.template,
  provider: session.provider,
  model: session.model,
  approvals: session.approvals,
  createdAt: iso(session.createdAt),
  lastActiveAt: iso(session.lastActiveAt),
  expiresAt: iso(session.lastActiveAt + idleMs),
  uptimeSeconds: Math.floor((now - session.createdAt) / 1000),
  depth: session.depth,
  sandbox: sandboxView(workspace),
  usage: session.usage,
  pendingApprovals: pendingApprovals(turn),
});

const sandboxView = (workspace: Workspace | undefined) => {
  const sandbox = workspace?.sandbox;
  if (sandbox === undefined) return null;
  const { state, source, readyAt, requestedAt, stoppedReason } = sandbox;
  return {
    state,
    source,
    ...(readyAt === undefined ? {} : { startMs: readyAt - requestedAt }),
    ...(stoppedReason === undefined ? {} : { reason: stoppedReason }),
  };
};

const pendingApprovals = (turn: TurnRecord | undefined) => {
  if (turn?.state.kind !== 'deciding') return [];
  const { calls } = turn.state;
  return calls.filter(({ status }) => status === 'pending').map((call) => approvalRequest(call, calls).data);
};
