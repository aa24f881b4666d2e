/**
 * Spawns a child with its first message, once per call: its id and its message's follow from the call, so that a repetition
 * after a crash finds the same one (CH1).
 *
 * It is made under its parent's lease and while that lives, and counted in its tree; refused over the tree's depth or
 * number of agents.
 */

import { derivedUuid, type MessageId, type SessionId, type WorkspaceId } from '../../../domain/ids.ts';
import { type Session, treeOf, unheldLease } from '../../../domain/session.ts';
import type { TreeLimits } from '../../../domain/session-tree.ts';
import { noUsage } from '../../../domain/turn/call-queue.ts';
import type { ApprovalPolicy } from '../../../domain/turn/turn.ts';
import { AppError } from '../../../errors.ts';
import type { TurnDeps } from '../../deps.ts';
import { offerMessage } from '../requests/accept-message.ts';

export type SpawnRequest = {
  readonly parent: Session;
  readonly policy: ApprovalPolicy;
  /** Of the call: unique in all sessions. */
  readonly key: string;
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly workspace: 'shared' | 'own';
  readonly limits: Required<TreeLimits>;
  readonly idleMs: number;
  readonly correlationId: string;
};

export type SpawnedChild = { readonly session: SessionId; readonly message: MessageId };

/** Undefined when its parent has ended or another invocation holds its lease by now. */
export const spawnChild = async (
  ports: TurnDeps,
  request: SpawnRequest,
): Promise<SpawnedChild | undefined> => {
  const { parent, limits, prompt: text, correlationId } = request;
  if (parent.depth >= limits.recursionDepthMax)
    throw new AppError(
      'resource_limit_exceeded',
      `Max recursion depth (${limits.recursionDepthMax}) exceeded`,
      {
        suggestions: ['Do the work in this session.'],
      },
    );
  const child = await make(ports, request);
  if (child === undefined) return undefined;
  const message = idFor<MessageId>(ports, request, 'message');
  const offer = { text, messageId: message, correlationId, slotsMax: Number.MAX_SAFE_INTEGER };
  const { result } = await offerMessage(ports, child, offer);
  if (result === 'ended')
    throw new AppError('invalid_session_state', 'the new session was ended before it began');
  return { session: child.id, message };
};

const make = async (ports: TurnDeps, request: SpawnRequest): Promise<Session | undefined> => {
  const { parent, model, policy, limits, idleMs } = request;
  const id = idFor<SessionId>(ports, request, 'session');
  const isShared = request.workspace === 'shared';
  const workspace = isShared ? parent.workspace : idFor<WorkspaceId>(ports, request, 'workspace');
  const now = ports.world.now();
  const child = newChild(parent, { id, workspace, model, policy, limits, now, dueAt: now + idleMs });
  const { owner, project, createdAt } = child;
  const made = await ports.sessions.create(child, {
    ...(isShared ? { enters: {} } : { workspace: { id: workspace, owner, project, createdAt, users: [id] } }),
    slotsMax: 0,
    child: { parent, agentsMax: limits.agentsPerSessionMax },
  });
  switch (made) {
    case 'created':
      return child;
    case 'exists':
      return ports.sessions.get(id);
    case 'orphan':
      return undefined;
    case 'full':
      throw noAgentLeft(limits.agentsPerSessionMax);
    case 'moved':
      throw new AppError('conflict', 'the workspace is being deleted');
  }
};

type ChildSettings = {
  readonly id: SessionId;
  readonly workspace: WorkspaceId;
  /** Absent: its parent's. */
  readonly model?: string | undefined;
  /** The grants of its parent hold for it as well: the parent could make the same calls itself. */
  readonly policy: ApprovalPolicy;
  /** In force for its parent, so that a change of the operator's does not widen a tree that runs. */
  readonly limits: Required<TreeLimits>;
  readonly now: number;
  readonly dueAt: number;
};

/** A child session as it begins: its parent's, but for the settings of its request. Its first message gives it a title. */
const newChild = (
  { dueAt: _, hasChildren: __, isFleeting: ___, title: ____, ...parent }: Session,
  { id, workspace, model, policy, limits, now, dueAt }: ChildSettings,
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

const idFor = <Id extends string>({ world }: TurnDeps, { parent, key }: SpawnRequest, what: string): Id =>
  derivedUuid(world.sha256(`child ${what}\n${parent.id}\n${key}`)) as Id;

const noAgentLeft = (max: number): AppError =>
  new AppError('resource_limit_exceeded', `a tree of sessions has at most ${max} agents`, {
    suggestions: ['Send a message to an existing one: action message.'],
  });
