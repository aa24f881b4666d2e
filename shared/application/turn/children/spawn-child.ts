/**
 * Spawns a child with its first message, once per call: its id and its message's follow from the call, so that a repetition
 * after a crash finds the same one (CH1).
 *
 * It is made under its parent's lease and while that lives, and counted in its tree; refused over the tree's depth or
 * number of agents.
 */

import type { ChildPart } from '../../../contracts/tools/slice-fields.ts';
import type { ChildSandbox } from '../../../domain/child-sandbox.ts';
import { derivedUuid, type MessageId, type SessionId, type WorkspaceId } from '../../../domain/ids.ts';
import { rootSessionOf, type Session, slicesOf, totalsOf, treeOf } from '../../../domain/session.ts';
import type { EnvironmentRef } from '../../../domain/session-environment.ts';
import type { SessionTree, TreeLimits } from '../../../domain/session-tree.ts';
import { filesOfFork, sourceOfWorkspace } from '../../../domain/snapshot.ts';
import { leftFor } from '../../../domain/tree-budget.ts';
import { type CountedMeasure, isSlice, type Measure } from '../../../domain/tree-slice.ts';
import type { ApprovalPolicy } from '../../../domain/turn/turn.ts';
import { AppError } from '../../../errors.ts';
import type { Deps, MessageDeps, SandboxDeps } from '../../deps.ts';
import { savedWorkspace } from '../../sandbox/saved-workspace.ts';
import { changesTooOften, raceLost, untilWon } from '../../write-race.ts';
import { offerMessage } from '../requests/accept-message.ts';
import { alignChildWithParent } from './align-child-with-parent.ts';
import { newChild } from './new-child.ts';

export type SpawnRequest = {
  readonly parent: Session;
  readonly policy: ApprovalPolicy;
  /** Its parent's. */
  readonly instructions?: string | undefined;
  /** Of the call: unique in all sessions. */
  readonly key: string;
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly workspace: 'shared' | 'own';
  readonly sandbox: ChildSandbox;
  readonly limits: Required<TreeLimits>;
  readonly idleMs: number;
  /** Its part of its parent's budget; absent: all that the parent has. */
  readonly part?: ChildPart;
  /** Made without its parent's lease, while that has not moved since it was read. */
  readonly isUnleased?: true;
};

type SpawnDeps = SandboxDeps & Deps<'trees'>;

export type SpawnedChild = { readonly session: SessionId; readonly message: MessageId };

/** Undefined when its parent has ended or another invocation holds its lease by now, or, without the lease, when it moved. */
export const spawnChild = async (
  ports: SpawnDeps,
  request: SpawnRequest,
): Promise<SpawnedChild | undefined> => {
  const { parent, limits, prompt: text } = request;
  if (parent.depth >= limits.recursionDepthMax)
    throw new AppError(
      'resource_limit_exceeded',
      `Max recursion depth (${limits.recursionDepthMax}) exceeded`,
      {
        suggestions: ['Do the work in this session.'],
      },
    );
  await refuseBeyond(ports, request);
  const child = await make(ports, request);
  if (child === undefined) return undefined;
  await addSlice(ports, child, request);
  const message = idFor<MessageId>(ports, request, 'message');
  const offer = { text, messageId: message };
  const { result } = await offerMessage(ports, child, offer);
  if (result === 'ended') throw endedBefore();
  return { session: child.id, message };
};

/** A child is never given more than its parent has left. One that a repetition finds has what it was given. */
const refuseBeyond = async (ports: SpawnDeps, request: SpawnRequest): Promise<void> => {
  const { parent, limits, part = {} } = request;
  if (!isSlice(part)) return;
  if ((await ports.sessions.get(idFor<SessionId>(ports, request, 'session'))) !== undefined) return;
  const root = treeOf(parent);
  const tree = root === undefined ? undefined : await ports.trees.read(root);
  const asked = { session: parent.id, at: ports.world.now(), slices: slicesOf(parent) };
  const usd = Math.max(0, limits.costUsdMax - totalsOf(parent).costUsd);
  const left =
    tree === undefined ? { ...unbounded, usd } : leftFor(tree, { ...asked, usdMax: limits.costUsdMax });
  for (const measure of measures)
    if ((part[`${measure}Max`] ?? 0) > left[measure])
      throw new AppError('invalid_request', `${leftText(measure, left[measure])} is left of your budget`);
};

const any = Number.POSITIVE_INFINITY;
const unbounded = { tokens: any, toolCalls: any, sandboxMs: any, egressBytes: any };
/** The argument of each measure, and its unit there. */
const argumentsOf = {
  usd: ['max_cost_usd', 1],
  tokens: ['max_total_tokens', 1],
  toolCalls: ['max_tool_calls', 1],
  sandboxMs: ['max_sandbox_seconds', 1000],
  egressBytes: ['max_egress_bytes', 1],
} as const satisfies Record<Measure | CountedMeasure, readonly [string, number]>;
const measures = Object.keys(argumentsOf) as readonly (keyof typeof argumentsOf)[];

const leftText = (measure: keyof typeof argumentsOf, left: number): string => {
  const [name, unit] = argumentsOf[measure];
  return `${name}: ${unit === 1 ? left : Math.floor(left / unit)}`;
};

/** Before its first message: without its slice it spends nothing (TM8). */
const addSlice = async (
  { trees }: SpawnDeps,
  { id, tree }: Session,
  { part = {} }: SpawnRequest,
): Promise<void> => {
  const { seconds: _, ...limits } = part;
  if (tree === undefined || !isSlice(part)) return;
  await trees.addSlice(tree.root, { session: id, ...limits });
};

const make = async (ports: SandboxDeps, request: SpawnRequest): Promise<Session | undefined> => {
  const { parent, model, policy, instructions, limits, idleMs, sandbox, part } = request;
  const id = idFor<SessionId>(ports, request, 'session');
  // One whose sandbox time or egress is bounded uses that of no other (CH5).
  const isBounded = part?.sandboxMsMax !== undefined || part?.egressBytesMax !== undefined;
  const isApart = sandbox.isOther || isBounded;
  const isFork = request.workspace === 'shared' && isApart;
  const isShared = request.workspace === 'shared' && !isFork;
  const workspace = isShared ? parent.workspace : idFor<WorkspaceId>(ports, request, 'workspace');
  const environment = await environmentFor(ports, request, id);
  const now = ports.world.now();
  const tree = positionOf(parent, { id, part, now });
  const settings = { id, workspace, model, policy, limits, tree, now, dueAt: now + idleMs };
  const child = newChild(parent, { ...settings, sandbox, environment });
  const created = await untilWon(async () => {
    const made = await ports.sessions.create(child, {
      ...(isShared ? { enters: {} } : await ownWorkspace(ports, child, isFork ? parent : undefined)),
      ...(environment?.sealed === undefined ? {} : { sealed: environment.sealed }),
      ...(instructions === undefined ? {} : { instructions }),
      child: { parent, agentsMax: limits.agentsPerSessionMax, isUnleased: request.isUnleased },
    });
    return made === 'moved' && isFork ? raceLost : made;
  }, changesTooOften('the workspace'));
  switch (created) {
    case 'created':
      return alignChildWithParent(ports, child);
    case 'exists': {
      const found = await ports.sessions.get(id);
      if (found === undefined) throw endedBefore();
      return alignChildWithParent(ports, found);
    }
    case 'orphan':
      return undefined;
    case 'full':
      throw noAgentLeft(limits.agentsPerSessionMax);
    case 'moved':
      throw new AppError('conflict', 'the workspace is being deleted');
  }
};

/** A new workspace, with the files that its parent's has at this moment if it is a fork of that. */
const ownWorkspace = async (ports: SandboxDeps, child: Session, parent: Session | undefined) => {
  const { id, owner, project, createdAt, workspace: name } = child;
  const empty = { id: name, owner, project, createdAt, users: [id] };
  if (parent === undefined) return { workspace: empty };
  const saved = await savedWorkspace(ports, parent.workspace);
  const source = sourceOfWorkspace(saved.id, saved.checkpoint);
  return { workspace: { ...empty, ...filesOfFork(source, name) }, source };
};

/** Its parent's variables: all, which are sealed once, or those that it is given, sealed anew. */
const environmentFor = async (
  ports: SandboxDeps,
  { parent: { environment }, sandbox: { env } }: SpawnRequest,
  id: SessionId,
): Promise<(EnvironmentRef & { readonly sealed?: string }) | undefined> => {
  if (environment === undefined || env === undefined) return environment;
  if (env.length === 0) return undefined;
  const all = await ports.environments.read(environment.of);
  if (all === undefined)
    throw new AppError('invalid_session_state', 'the variables of this session can no longer be read');
  return ports.environments.seal(id, Object.fromEntries(env.map((name) => [name, all[name] ?? ''])));
};

type NewPart = { readonly id: SessionId; readonly part: ChildPart | undefined; readonly now: number };

/** Below its parent, and within all that bounds that. */
const positionOf = (parent: Session, { id, part = {}, now }: NewPart): SessionTree => {
  const slices = slicesOf(parent) ?? [];
  const until = parent.tree?.until;
  const own = isSlice(part) ? [...slices, id] : slices;
  const ends = part.seconds === undefined ? [] : [now + part.seconds * 1000];
  const times = until === undefined ? ends : [...ends, until];
  return {
    root: rootSessionOf(parent),
    parent: parent.id,
    ...(own.length === 0 ? {} : { slices: own }),
    ...(times.length === 0 ? {} : { until: Math.min(...times) }),
  };
};

const idFor = <Id extends string>({ world }: MessageDeps, { parent, key }: SpawnRequest, what: string): Id =>
  derivedUuid(world.sha256(`child ${what}\n${parent.id}\n${key}`)) as Id;

const endedBefore = (): AppError =>
  new AppError('invalid_session_state', 'the new session was ended before it began');

const noAgentLeft = (max: number): AppError =>
  new AppError('resource_limit_exceeded', `a tree of sessions has at most ${max} agents`, {
    suggestions: ['Send a message to an existing one: action message.'],
  });
