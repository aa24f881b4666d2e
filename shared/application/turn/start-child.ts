/**
 * Starts a child with its first message, once per call: its id and its message's follow from the call, so that whoever
 * repeats it after a crash meets the same one (CH1).
 *
 * It is made under its parent's lease and while that lives, and counted in its tree; refused over the tree's depth or
 * number of agents.
 */
import { derivedUuid, type MessageId, type SessionId, type WorkspaceId } from '../../domain/ids.ts';
import type { Session } from '../../domain/session.ts';
import type { TreeLimits } from '../../domain/tree-limits.ts';
import type { ApprovalPolicy } from '../../domain/turn/turn.ts';
import { AppError } from '../../errors.ts';
import { type AcceptPorts, offerMessage } from './accept-message.ts';
import { newChild } from './new-child.ts';

export type StartPorts = AcceptPorts;

export type Birth = {
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

export type Started = { readonly session: SessionId; readonly message: MessageId };

/** Undefined when its parent has ended or is another's by now. */
export const startChild = async (ports: StartPorts, birth: Birth): Promise<Started | undefined> => {
  const { parent, limits, prompt: text, correlationId } = birth;
  if (parent.depth >= limits.recursionDepthMax)
    throw new AppError(
      'resource_limit_exceeded',
      `Max recursion depth (${limits.recursionDepthMax}) exceeded`,
      {
        suggestions: ['Do the work in this session.'],
      },
    );
  const child = await make(ports, birth);
  if (child === undefined) return undefined;
  const message = idFor<MessageId>(ports, birth, 'message');
  const offer = { text, messageId: message, correlationId, slotsMax: Number.MAX_SAFE_INTEGER };
  const { result } = await offerMessage(ports, child, offer);
  if (result === 'ended')
    throw new AppError('invalid_session_state', 'the new session was ended before it began');
  return { session: child.id, message };
};

const make = async (ports: StartPorts, birth: Birth): Promise<Session | undefined> => {
  const { parent, model, policy, limits, idleMs } = birth;
  const id = idFor<SessionId>(ports, birth, 'session');
  const isShared = birth.workspace === 'shared';
  const workspace = isShared ? parent.workspace : idFor<WorkspaceId>(ports, birth, 'workspace');
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

const idFor = <Id extends string>({ world }: StartPorts, { parent, key }: Birth, what: string): Id =>
  derivedUuid(world.sha256(`child ${what}\n${parent.id}\n${key}`)) as Id;

const noAgentLeft = (max: number): AppError =>
  new AppError('resource_limit_exceeded', `a tree of sessions has at most ${max} agents`, {
    suggestions: ['Say more to one that is there already: action message.'],
  });
