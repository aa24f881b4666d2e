/**
 * `get_sessions`: the execution sessions that are not stopped, oldest first, or one of them. `stop_session`: ends one; when
 * it answers, the session's slot is free.
 */

import { findSession } from '#shared/application/access/find-session.ts';
import { listExecutions } from '#shared/application/execution/list-executions.ts';
import { endSession } from '#shared/application/turn/requests/end-session.ts';
import { iso } from '#shared/contracts/fields.ts';
import {
  getSessionsArguments,
  getSessionsResult,
  stopSessionArguments,
  stopSessionResult,
} from '#shared/contracts/tools/mcp-tools.ts';
import { isEnded, type Session } from '#shared/domain/session.ts';
import { languageOf } from '#shared/domain/template.ts';
import { defineTool } from '../define-tool.ts';

export const getSessions = defineTool({
  name: 'get_sessions',
  description: 'Lists the active execution sessions, or shows one of them.',
  needs: 'own:read',
  input: getSessionsArguments,
  output: getSessionsResult,
  annotations: { title: 'List sessions', readOnlyHint: true, openWorldHint: false },
  run: async ({ session_id: id }, { ports, principal, intent }) => {
    const sessions =
      id === undefined
        ? await listExecutions(ports, principal)
        : [(await findSession(ports.turns, { id, principal, intent })).session];
    const now = ports.world.now();
    return { sessions: sessions.filter(isShown).map((session) => view(session, now)) };
  },
});

const isShown = ({ kind, status }: Session): boolean => kind === 'execution' && !isEnded(status);

const view = ({ id, template, flavor, status, createdAt, lastActiveAt }: Session, now: number) => ({
  id,
  language: languageOf(template),
  flavor,
  status,
  created_at: iso(createdAt),
  last_accessed: iso(lastActiveAt),
  uptime_seconds: Math.max(0, Math.floor((now - createdAt) / 1000)),
});

export const stopSession = defineTool({
  name: 'stop_session',
  description: 'Stops a session, its sandbox and every program in it, and frees its slot.',
  needs: 'own:write',
  input: stopSessionArguments,
  output: stopSessionResult,
  annotations: {
    title: 'Stop a session',
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  run: async ({ session_id: id }, { ports, principal, intent }) => {
    const { session } = await findSession(ports.turns, { id, principal, intent });
    const isStopped = await endSession(ports, session, { reason: 'stopped by its client' });
    const message = isStopped ? 'the session is stopped' : 'the session was stopped before';
    return { session_id: session.id, success: true, message };
  },
});
