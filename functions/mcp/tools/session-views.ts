/**
 * `session get`, `list` and `events`: sessions, their events and their calls as the tool `session` shows them.
 */

import type * as z from 'zod';
import { findSession } from '#shared/application/access/find-session.ts';
import { readEvents } from '#shared/application/events/read-events.ts';
import type { ToldEvent } from '#shared/application/session/await-completion.ts';
import { listSessions } from '#shared/application/session/list-sessions.ts';
import { readTreeEvents } from '#shared/application/session/read-tree-events.ts';
import { iso } from '#shared/contracts/fields.ts';
import { cutArguments } from '#shared/contracts/frames.ts';
import {
  eventsArguments,
  eventsResult,
  getSessionResult,
  listSessionsArguments,
  listSessionsResult,
  ofSessionArguments,
  type sessionDetails,
} from '#shared/contracts/tools/session-tool/read.ts';
import type { Effect } from '#shared/domain/effect.ts';
import { oldestKept } from '#shared/domain/event-log.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { cutLongestText, type JsonObject } from '#shared/domain/json.ts';
import { frameBytesMax } from '#shared/domain/limits.ts';
import type { TokenUsage } from '#shared/domain/model.ts';
import { type Session, totalsOf } from '#shared/domain/session.ts';
import { summarizeTurns, type TurnSummary } from '#shared/domain/turn/logged-turns.ts';
import type { Deciding, TurnRecord } from '#shared/domain/turn/turn.ts';
import { isAsked } from '#shared/domain/turn/waiting-call.ts';
import { defineAction } from '../action-tool.ts';
import type { McpPorts } from '../define-tool.ts';

/** Events may be long: the newest of them describe the newest turns. */
const newestEventsMax = 300;

export const get = defineAction({
  needs: 'own:read',
  input: ofSessionArguments,
  output: getSessionResult,
  run: async ({ session_id: id }, { ports, principal, intent }) => {
    const { session, turn } = await findSession(ports.turns, { id, principal, intent });
    const oldest = Math.max(oldestKept(session.lastSeq), session.lastSeq + 1 - newestEventsMax);
    const page = { since: oldest - 1, eventsMax: newestEventsMax };
    const { events: log } = await ports.eventLog.read(session.id, page);
    return {
      ...detailsOf(session),
      pending_approvals: pendingApprovals(turn),
      turns: summarizeTurns(log).map(turnView),
    };
  },
});

const turnView = ({ messageId, startedAt, request, end }: TurnSummary) => ({
  message_id: messageId,
  request,
  started_at: iso(startedAt),
  finished: end !== undefined,
  ...(end === undefined
    ? {}
    : {
        ended_at: iso(end.at),
        stop_reason: end.stopReason,
        output: end.output,
        usage: usageView(end.usage),
      }),
});

export const list = defineAction({
  needs: 'own:read',
  input: listSessionsArguments,
  output: listSessionsResult,
  run: async ({ project_id: project, status, limit: itemsMax, after }, { ports, principal }) => {
    const search = { principal, project, status, itemsMax, after };
    const { sessions, ...rest } = await listSessions(ports, search);
    return { sessions: sessions.map(detailsOf), ...rest };
  },
});

export const events = defineAction({
  needs: 'own:read',
  input: eventsArguments,
  output: eventsResult,
  run: async (input, { ports, principal, intent }) => {
    const {
      session_id: id,
      since_index: since,
      max_events: eventsMax,
      include_children: withChildren,
    } = input;
    const { session } = await findSession(ports.turns, { id, principal, intent });
    return eventsView(ports, session, { since, eventsMax, withChildren });
  },
});

type Page = { readonly since: number; readonly eventsMax: number; readonly withChildren: boolean };

export const eventsView = async (
  ports: Pick<McpPorts, 'sessions' | 'eventLog'>,
  session: Session,
  { withChildren, ...page }: Page,
) => {
  const read: Awaited<ReturnType<typeof readTreeEvents>> = withChildren
    ? await readTreeEvents(ports, session, page)
    : await readEvents(ports.eventLog, session, page);
  const shown = read.events.map(({ index, sessionId, type, at, data }) => {
    const fields = data as Readonly<Record<string, unknown>>;
    return { index, session_id: sessionId, type, at, ...gistOf({ type, data: fields }), data: fields };
  });
  const error = shown.findLast(({ type }) => type === 'agent:error')?.text;
  return {
    session_id: read.sessionId,
    status: read.status,
    last_index: read.lastIndex,
    events: shown,
    completed: read.completed,
    failed: read.failed,
    ...(error === undefined ? {} : { error }),
    dropped_events: read.droppedEvents,
    has_more: read.hasMore,
    ...leftOutView(read),
  };
};

const leftOutView = ({ leftOut }: Awaited<ReturnType<typeof readTreeEvents>>) =>
  leftOut === undefined
    ? {}
    : {
        left_out: leftOut.map(({ sessionId, sinceIndex }) => ({
          session_id: sessionId,
          since_index: sinceIndex,
        })),
      };

export const usageView = ({ inputTokens, outputTokens }: TokenUsage) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
});

const detailsOf = (session: Session): z.output<typeof sessionDetails> => ({
  session_id: session.id,
  kind: session.kind,
  ...(session.title === undefined ? {} : { title: session.title }),
  status: session.status,
  project_id: session.project,
  workspace_id: session.workspace,
  flavor: session.flavor,
  template: session.template,
  provider: session.provider,
  model: session.model,
  ...(session.thinking === undefined ? {} : { thinking: session.thinking }),
  ...(session.runtime === undefined ? {} : { runtime: session.runtime }),
  approvals: session.approvals,
  depth: session.depth,
  created_at: iso(session.createdAt),
  last_active_at: iso(session.lastActiveAt),
  last_event_index: session.lastSeq,
  usage: usageView(totalsOf(session).usage),
  cost_usd: totalsOf(session).costUsd,
});

export const pendingApprovals = (turn: TurnRecord | undefined) =>
  turn?.state.kind === 'deciding' ? pendingIn(turn.state) : [];

const pendingIn = ({ turnId, calls }: Deciding) =>
  calls.filter(isAsked).map(({ callId, name, args, digest, trial }) => ({
    ...{ call_id: callId, turn_id: turnId, name, args, digest },
    ...(trial?.state === 'tried'
      ? { effect: effectView(trial.effect), effect_digest: trial.effectDigest }
      : {}),
    ...(trial?.state === 'untried' ? { effect_missing: trial.reason } : {}),
  }));

/** The effect itself is shown as its digest has it. */
const effectView = (effect: Effect): Record<string, unknown> => ({ ...effect });

type Logged = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };

/** The text, its role, or the tool of an event. */
const gistOf = ({ data }: Logged) => {
  const text = data['text'] ?? data['message'] ?? textOf(data['content']);
  return {
    ...(typeof text === 'string' ? { text } : {}),
    ...(typeof data['name'] === 'string' ? { tool_name: data['name'] } : {}),
    ...(typeof data['role'] === 'string' ? { role: data['role'] } : {}),
  };
};

const textOf = (content: unknown): string | undefined =>
  Array.isArray(content)
    ? content
        .flatMap((block: { text?: unknown }) => (typeof block.text === 'string' ? [block.text] : []))
        .join('\n')
    : undefined;

/** One event for a client that waits; the longest text of a large one is cut. */
export const toldData = (sessionId: SessionId, event: ToldEvent): JsonObject => {
  const { type, seq, data } = event;
  const told = {
    session_id: sessionId,
    index: seq,
    type,
    ...gistOf({ type, data: data as JsonObject }),
    ...('callId' in data && data.callId !== undefined ? { call_id: data.callId } : {}),
    ...('args' in data ? { args: cutArguments(data.args, frameBytesMax / 2) } : {}),
    ...(type === 'completion' ? { final_response: data.text, stop_reason: data.stopReason } : {}),
  };
  return cutLongestText(told as JsonObject, frameBytesMax);
};
