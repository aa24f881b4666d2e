/** `session get`, `list` and `events`: the sessions, their events and their cost. */

import { findSession } from '#shared/application/access/find-session.ts';
import { readEvents } from '#shared/application/events/poll-events.ts';
import { listSessions } from '#shared/application/session/list-sessions.ts';
import { readSessionTree } from '#shared/application/session/read-session-tree.ts';
import {
  eventsArguments,
  eventsResult,
  getSessionResult,
  listSessionsArguments,
  listSessionsResult,
  ofSessionArguments,
} from '#shared/contracts/tools/session-tool/read.ts';
import { oldestKept } from '#shared/domain/event-log.ts';
import { summarizeTurns, type TurnSummary } from '#shared/domain/turn/logged-turns.ts';
import { defineAction } from '../../action-tool.ts';
import { detailsOf, gistOf, pendingApprovals, usageView } from './view.ts';

/** Events may be long: the newest of them describe the newest turns. */
const newestEventsMax = 300;

export const get = defineAction({
  needs: 'own:read',
  input: ofSessionArguments,
  output: getSessionResult,
  run: async ({ session_id: id }, { ports, principal, intent }) => {
    const { session, turn } = await findSession(ports.sessions, { id, principal, intent });
    const oldest = Math.max(oldestKept(session.lastSeq), session.lastSeq + 1 - newestEventsMax);
    const page = { since: oldest - 1, eventsMax: newestEventsMax };
    const { events: log } = await ports.sessions.readEvents(session.id, page);
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
  started_at: new Date(startedAt).toISOString(),
  finished: end !== undefined,
  ...(end === undefined
    ? {}
    : {
        ended_at: new Date(end.at).toISOString(),
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
    const { session_id: id, since_index: since, max_events: eventsMax } = input;
    const { session } = await findSession(ports.sessions, { id, principal, intent });
    const page = { since, eventsMax };
    const read = input.include_children
      ? await readSessionTree(ports.sessions, session, page)
      : await readEvents(ports.sessions, session, page);
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
    };
  },
});
