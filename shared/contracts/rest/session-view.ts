/** A session as REST shows it. */

import * as z from 'zod';
import { flavorNames, templates } from '#shared/domain/flavor.ts';
import { providers } from '#shared/domain/model.ts';
import {
  sandboxSources,
  sandboxStates,
  startPhase,
  startPhases,
  type Workspace,
} from '#shared/domain/sandbox.ts';
import { approvalModes, type Session, sessionKinds, sessionStatuses } from '#shared/domain/session.ts';
import { approvalRequest } from '#shared/domain/turn/call-queue.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import { iso } from '../fields.ts';
import { pendingApproval } from './approval-view.ts';

type Seen = {
  readonly turn: TurnRecord | undefined;
  readonly workspace: Workspace | undefined;
  readonly now: number;
  readonly idleMs: number;
};

export const flavorName = z.enum(flavorNames);
export const templateName = z.enum(templates);
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
    title: z.string().optional().describe('First words of the conversation.'),
    status: z.enum(sessionStatuses),
    project: z.uuid(),
    workspace: z.uuid(),
    flavor: flavorName,
    template: templateName,
    provider: providerName,
    model: z.string(),
    approvals: z.enum(approvalModes),
    createdAt: z.iso.datetime(),
    lastActiveAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
    uptimeSeconds: count,
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
    costUsd: z.number().min(0).describe('Cost of the model calls in US dollars, by the price table.'),
    pendingApprovals: z.array(pendingApproval),
  })
  .meta({ id: 'Session' });

export const sessionsAnswer = z.object({ sessions: z.array(sessionAnswer), next: z.string().optional() });

export const cleanedAnswer = z.object({
  removed: count,
  hasMore: z.boolean().describe('True: more sessions can be deleted; repeat the request.'),
});

type SessionAnswer = z.output<typeof sessionAnswer>;

export const sessionView = (session: Session, { turn, workspace, now, idleMs }: Seen): SessionAnswer => ({
  id: session.id,
  kind: session.kind,
  ...(session.title === undefined ? {} : { title: session.title }),
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
  ...session.tree,
  sandbox: sandboxView(workspace, now),
  usage: session.usage,
  costUsd: session.costUsd,
  pendingApprovals: pendingApprovals(turn),
});

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
  return calls
    .filter(({ status }) => status === 'pending')
    .map((call) => approvalRequest(turnId, call, calls).data);
};
