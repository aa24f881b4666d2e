/** A session as REST shows it. */

import * as z from 'zod';
import { stopReasons } from '#shared/domain/event-log.ts';
import { flavorNames } from '#shared/domain/flavor.ts';
import { idleFrom, idleLimit, type Lifetimes, pausedUntil } from '#shared/domain/idle-time.ts';
import { providers, thinkingLevels } from '#shared/domain/model.ts';
import { runtimeNames } from '#shared/domain/runtime-name.ts';
import {
  lifetimeEnd,
  type SandboxRecord,
  sandboxSources,
  sandboxStates,
  startPhase,
  startPhases,
  type Workspace,
} from '#shared/domain/sandbox.ts';
import {
  approvalModes,
  isEnded,
  type Session,
  sessionKinds,
  sessionStatuses,
  totalsOf,
} from '#shared/domain/session.ts';
import { costUsdMaxOf } from '#shared/domain/session-tree.ts';
import { templateNamePattern } from '#shared/domain/template.ts';
import { approvalRequest } from '#shared/domain/turn/call-queue.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import { isAsked } from '#shared/domain/turn/waiting-call.ts';
import { effectPolicy } from '../effect-policy.ts';
import { iso } from '../fields.ts';
import { pendingApproval } from './approval-view.ts';
import { network, networkView } from './network.ts';

type Seen = {
  readonly turn: TurnRecord | undefined;
  readonly workspace: Workspace | undefined;
  readonly now: number;
  readonly lifetimes: Lifetimes;
  /** Of a session without a limit of its own. */
  readonly usdMax: number;
};

export const flavorName = z.enum(flavorNames);
export const templateName = z.string().regex(templateNamePattern);
export const providerName = z.enum(providers);

const count = z.number().int().min(0);

const sandbox = z.object({
  state: z.enum(sandboxStates),
  source: z.enum(sandboxSources),
  startMs: z.number().optional(),
  reason: z.string().optional().describe('Reason why the sandbox stopped.'),
  phase: z.enum(startPhases).optional().describe('Phase of the start.'),
  requestedAt: z.iso.datetime(),
  readyAt: z.iso.datetime().optional(),
  stoppedAt: z.iso.datetime().optional(),
});

export const sessionAnswer = z
  .object({
    id: z.uuid(),
    kind: z.enum(sessionKinds),
    title: z.string().optional().describe("First words of the conversation, or the client's own."),
    labels: z.record(z.string(), z.string()).describe('Labels that the client gave the session, by key.'),
    archived: z.boolean(),
    status: z.enum(sessionStatuses),
    project: z.uuid(),
    workspace: z.uuid(),
    flavor: flavorName,
    template: templateName,
    provider: providerName,
    model: z.string(),
    thinking: z
      .enum(thinkingLevels)
      .optional()
      .describe('How long the model thinks before it answers; absent: as it does by itself.'),
    runtime: z
      .enum(runtimeNames)
      .optional()
      .describe("Program that carries its turns; absent: the platform's own loop."),
    approvals: z.enum(approvalModes),
    effects: effectPolicy()
      .optional()
      .describe('Rules over effects, of its project or its agent when it was made.'),
    createdAt: z.iso.datetime(),
    lastActiveAt: z.iso.datetime(),
    lastStopReason: z
      .enum(stopReasons)
      .optional()
      .describe('Why its last turn ended; absent: no turn has ended yet.'),
    expiresAt: z.iso
      .datetime()
      .describe(
        'Time at which its sandbox stops if it is not used until then. Of a session without one: the time at which it ends, or is deleted.',
      ),
    uptimeSeconds: count.describe(
      'Seconds since the session was created; of one that has ended, until its end.',
    ),
    idleSeconds: z.number().describe('Seconds without activity after which the sandbox stops.'),
    lifetimeSeconds: z.number().optional().describe('Seconds that a sandbox lives; absent: no limit.'),
    network,
    agent: z.string().optional().describe('Name of the agent that it was made with.'),
    cwd: z.string().optional().describe('Folder in which programs of the sandbox begin.'),
    envNames: z.array(z.string()).describe('Names of the environment variables; no answer has their values.'),
    depth: count.describe('Depth in the session tree; 0 for a session that no agent started.'),
    parent: z.uuid().optional().describe('Id of the session whose agent started this one.'),
    root: z.uuid().optional().describe('Id of the root of the session tree.'),
    sandbox: sandbox.nullable(),
    usage: z.object({
      inputTokens: count,
      outputTokens: count,
      cachedInputTokens: count.optional(),
      cacheWriteInputTokens: count.optional(),
    }),
    costUsd: z
      .number()
      .min(0)
      .describe(
        'Cost of the model calls in US dollars, by the price table: those of its turns and those of programs of its sandbox.',
      ),
    maxCostUsd: z
      .number()
      .min(0)
      .optional()
      .describe('Cost in US dollars at which the session and its descendants stop calling models.'),
    pendingApprovals: z.array(pendingApproval),
  })
  .meta({ id: 'Session' });

export const sessionsAnswer = z.object({ sessions: z.array(sessionAnswer), next: z.string().optional() });

export const cleanedAnswer = z.object({
  removed: count,
  hasMore: z.boolean().describe('True: more sessions can be deleted; repeat the request.'),
});

type SessionAnswer = z.output<typeof sessionAnswer>;

export const sessionView = (
  session: Session,
  { turn, workspace, now, lifetimes, usdMax }: Seen,
): SessionAnswer => ({
  id: session.id,
  kind: session.kind,
  ...(session.title === undefined ? {} : { title: session.title }),
  labels: { ...session.labels },
  archived: session.isArchived ?? false,
  status: session.status,
  project: session.project,
  workspace: session.workspace,
  flavor: session.flavor,
  template: session.template,
  provider: session.provider,
  model: session.model,
  ...(session.thinking === undefined ? {} : { thinking: session.thinking }),
  ...(session.runtime === undefined ? {} : { runtime: session.runtime }),
  approvals: session.approvals,
  ...(session.effects === undefined ? {} : { effects: session.effects }),
  createdAt: iso(session.createdAt),
  lastActiveAt: iso(session.lastActiveAt),
  ...(session.lastStopReason === undefined ? {} : { lastStopReason: session.lastStopReason }),
  expiresAt: iso(Math.max(now, expiryOf(session, workspace?.sandbox, lifetimes))),
  uptimeSeconds: uptimeOf(session, now),
  idleSeconds: idleLimit(session, lifetimes) / 1000,
  ...(session.lifetimeMs === undefined ? {} : { lifetimeSeconds: session.lifetimeMs / 1000 }),
  network: networkView(session.network),
  ...(session.agent === undefined ? {} : { agent: session.agent }),
  ...(session.cwd === undefined ? {} : { cwd: session.cwd }),
  envNames: [...(session.environment?.names ?? [])],
  depth: session.depth,
  ...(session.tree === undefined ? {} : { parent: session.tree.parent, root: session.tree.root }),
  sandbox: sandboxView(workspace, now),
  ...totalsOf(session),
  maxCostUsd: costUsdMaxOf(session, usdMax),
  pendingApprovals: pendingApprovals(turn),
});

/** The last activity of a session that has ended is its end. */
const uptimeOf = ({ status, createdAt, lastActiveAt }: Session, now: number): number =>
  Math.floor(((isEnded(status) ? lastActiveAt : now) - createdAt) / 1000);

/**
 * Of a session without a sandbox the session itself is what ends next, whatever its status: the end of a lifetime leaves an execution
 * session `ready`, since only one that was idle, or gave way, is `paused`.
 */
const expiryOf = (session: Session, sandbox: SandboxRecord | undefined, lifetimes: Lifetimes): number => {
  const hasSandbox = sandbox?.state === 'starting' || sandbox?.state === 'ready';
  const historyEnd = session.lastActiveAt + lifetimes.historyMs;
  if (isEnded(session.status)) return historyEnd;
  // One in error ends with its idle time, which is no time of rest.
  if (hasSandbox || session.status === 'error') {
    const lifeEnd = (sandbox && lifetimeEnd(sandbox)) ?? Number.POSITIVE_INFINITY;
    return Math.min(idleFrom(session, lifetimes, sandbox?.readyAt), lifeEnd);
  }
  return session.kind === 'agent' ? historyEnd : pausedUntil(session, lifetimes);
};

const sandboxView = (workspace: Workspace | undefined, now: number): SessionAnswer['sandbox'] => {
  const sandbox = workspace?.sandbox;
  if (sandbox === undefined) return null;
  const { state, source, readyAt, requestedAt, stoppedAt, stoppedReason } = sandbox;
  return {
    state,
    source,
    ...(readyAt === undefined ? {} : { startMs: readyAt - requestedAt }),
    ...(stoppedReason === undefined ? {} : { reason: stoppedReason }),
    ...(state === 'starting' ? { phase: startPhase(sandbox, now) } : {}),
    requestedAt: iso(requestedAt),
    ...(readyAt === undefined ? {} : { readyAt: iso(readyAt) }),
    ...(stoppedAt === undefined ? {} : { stoppedAt: iso(stoppedAt) }),
  };
};

const pendingApprovals = (turn: TurnRecord | undefined): SessionAnswer['pendingApprovals'] => {
  if (turn?.state.kind !== 'deciding') return [];
  const { turnId, calls } = turn.state;
  return calls.filter(isAsked).map((call) => approvalRequest(turnId, call, calls).data);
};
