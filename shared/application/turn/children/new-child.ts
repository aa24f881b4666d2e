/**
 * A child session as it begins: the settings that it takes over from its parent, and those of its request.
 *
 * Each setting that it takes over is named. All else is its own, so that a new field of a session is not a child's by accident: its
 * parent's spending, stall, end and labels are not.
 */

import type { ChildSandbox } from '../../../domain/child-sandbox.ts';
import type { SessionId, WorkspaceId } from '../../../domain/ids.ts';
import { noUsage } from '../../../domain/model.ts';
import { type Session, unheldLease } from '../../../domain/session.ts';
import { type EnvironmentRef, environmentRefOf } from '../../../domain/session-environment.ts';
import type { SessionTree, TreeLimits } from '../../../domain/session-tree.ts';
import type { ApprovalPolicy } from '../../../domain/turn/turn.ts';

type ChildSettings = {
  readonly id: SessionId;
  readonly workspace: WorkspaceId;
  /** Absent: its parent's. */
  readonly model?: string | undefined;
  /** The grants of its parent hold for it as well: the parent could make the same calls itself. */
  readonly policy: ApprovalPolicy;
  /** In force for its parent, so that a change of the operator's does not widen a tree that runs. */
  readonly limits: Required<TreeLimits>;
  readonly tree: SessionTree;
  readonly sandbox: ChildSandbox;
  readonly environment: EnvironmentRef | undefined;
  readonly now: number;
  readonly dueAt: number;
};

const inherited = [
  ...(['owner', 'project', 'kind', 'provider', 'runtime', 'agent'] as const),
  ...(['effects', 'disabledTools', 'allowedTools', 'mcpNamespacing', 'thinking'] as const),
  ...(['cwd', 'allowSmallerFlavor', 'idleMs', 'lifetimeMs'] as const),
] as const satisfies readonly (keyof Session)[];

type Inherited = Pick<Session, (typeof inherited)[number]>;

const inheritedFrom = (parent: Session): Inherited =>
  Object.fromEntries(
    inherited.flatMap((name) => (parent[name] === undefined ? [] : [[name, parent[name]]])),
  ) as Inherited;

/** Its first message gives it a title. */
export const newChild = (
  parent: Session,
  { id, workspace, model, policy, limits, tree, sandbox, environment, now, dueAt }: ChildSettings,
): Session => ({
  ...inheritedFrom(parent),
  ...(workspace === parent.workspace ? { slotOf: parent.slotOf ?? parent.id } : {}),
  id,
  workspace,
  status: 'created',
  template: sandbox.template,
  flavor: sandbox.flavor,
  ...(sandbox.network === undefined ? {} : { network: sandbox.network }),
  ...(environment === undefined ? {} : { environment: environmentRefOf(environment) }),
  model: model ?? parent.model,
  approvals: policy.mode,
  grants: policy.grants,
  limits,
  usage: noUsage,
  costUsd: 0,
  depth: parent.depth + 1,
  tree,
  createdAt: now,
  lastActiveAt: now,
  runningCalls: {},
  dueAt,
  lastSeq: -1,
  workSeq: 0,
  lease: unheldLease,
});
