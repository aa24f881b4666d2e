/** A child session as it begins: its parent's, but for what was asked for it. Its own first words give it a title. */
import type { SessionId, WorkspaceId } from '../../domain/ids.ts';
import { type Session, treeOf, unheldLease } from '../../domain/session.ts';
import type { TreeLimits } from '../../domain/tree-limits.ts';
import { noUsage } from '../../domain/turn/calls.ts';
import type { ApprovalPolicy } from '../../domain/turn/turn.ts';

export type ChildWish = {
  readonly id: SessionId;
  readonly workspace: WorkspaceId;
  /** Absent: its parent's. */
  readonly model?: string | undefined;
  /** What humans allowed its parent holds for it as well: the parent could make the same calls itself. */
  readonly policy: ApprovalPolicy;
  /** In force for its parent, so that a change of the operator's does not widen a tree that runs. */
  readonly limits: Required<TreeLimits>;
  readonly now: number;
  readonly dueAt: number;
};

export const newChild = (
  { dueAt: _, hasChildren: __, isFleeting: ___, title: ____, ...parent }: Session,
  { id, workspace, model, policy, limits, now, dueAt }: ChildWish,
): Session => ({
  ...parent,
  id,
  workspace,
  status: 'created',
  model: model ?? parent.model,
  approvals: policy.mode,
  grants: policy.grants,
  limits,
  usage: noUsage,
  costUsd: 0,
  depth: parent.depth + 1,
  tree: { root: treeOf(parent) ?? parent.id, parent: parent.id },
  createdAt: now,
  lastActiveAt: now,
  runningCalls: {},
  dueAt,
  lastSeq: -1,
  workSeq: 0,
  lease: unheldLease,
});
