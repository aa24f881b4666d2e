/** `/sessions`: created, listed, shown, ended. */

import { randomUUID } from 'node:crypto';
import type * as z from 'zod';
import type { AuditDeps, Deps, SessionDeps } from '#shared/application/deps.ts';
import { cleanUpSessions } from '#shared/application/session/clean-up-sessions.ts';
import type { SessionDefaults } from '#shared/application/session/create-session.ts';
import { createSessionWhenFree } from '#shared/application/session/create-session-when-free.ts';
import { listSessions } from '#shared/application/session/list-sessions.ts';
import { declareTools, refuseTaken } from '#shared/application/turn/requests/caller-tools.ts';
import { endSession } from '#shared/application/turn/requests/end-session.ts';
import {
  cleanupBody,
  createSessionBody,
  listQuery,
  sessionOptionsOf,
} from '#shared/contracts/rest/bodies.ts';
import {
  cleanedAnswer,
  sessionAnswer,
  sessionsAnswer,
  sessionView,
} from '#shared/contracts/rest/session-view.ts';
import type { Caller } from '#shared/domain/caller-tool.ts';
import type { SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import type { Session, SessionKind } from '#shared/domain/session.ts';
import { idleLimit } from '#shared/domain/session-sweep.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import { AppError } from '#shared/errors.ts';
import { type ApiEvent, type ApiRoute, bodyOf, json, principalOf, queryOf } from './api-route.ts';
import { onSession } from './resource-route.ts';

export type SessionPorts = SessionDeps & AuditDeps & Deps<'slots' | 'callers' | 'forgetter'>;

export const sessionRoutes = ({
  ports,
  settings,
}: {
  readonly ports: SessionPorts;
  readonly settings: SessionDefaults;
}): readonly ApiRoute[] => {
  const viewOf = (session: Session, workspace: Workspace | undefined, turn?: TurnRecord) =>
    sessionView(session, {
      turn,
      workspace,
      now: ports.world.now(),
      idleMs: idleLimit(session, settings.lifetimes),
    });
  const show = async (session: Session, turn?: TurnRecord) =>
    viewOf(session, await ports.workspaces.get(session.workspace), turn);
  return [
    {
      method: 'POST',
      path: '/api/sessions',
      needs: 'own:write',
      contract: {
        summary: 'Create a session',
        body: createSessionBody,
        answers: { 201: sessionAnswer },
        errors: [
          'invalid_flavor',
          'unsupported_language',
          'provider_not_configured',
          'project_not_found',
          'workspace_not_found',
          'conflict',
          'resource_limit_exceeded',
        ],
      },
      handler: async (event: ApiEvent) => {
        const body = bodyOf(event, createSessionBody);
        return json(201, await show(await makeSession(ports, settings, { event, body })));
      },
    },
    {
      method: 'GET',
      path: '/api/sessions',
      needs: 'own:read',
      contract: {
        summary: 'List your sessions',
        query: listQuery,
        answers: { 200: sessionsAnswer },
        errors: ['project_not_found'],
      },
      handler: async (event: ApiEvent) => {
        const search = {
          ...queryOf(event, listQuery),
          principal: principalOf(event),
          itemsMax: pageItemsMax,
        };
        const { sessions, ...rest } = await listSessions(ports, search);
        const workspaces = await ports.workspaces.getMany(sessions.map(({ workspace }) => workspace));
        const byId = new Map(workspaces.map((workspace) => [workspace.id, workspace]));
        const turns = await runningTurns(ports, sessions);
        const shown = sessions.map((session) =>
          viewOf(session, byId.get(session.workspace), turns.get(session.id)),
        );
        return json(200, { sessions: shown, ...rest });
      },
    },
    cleanupRoute(ports),
    onSession(ports, {
      method: 'GET',
      path: '/api/sessions/{id}',
      needs: 'own:read',
      contract: { summary: 'Show a session', answers: { 200: sessionAnswer } },
      handler: async (_event, { session, turn }) => json(200, await show(session, turn)),
    }),
    onSession(ports, {
      method: 'DELETE',
      path: '/api/sessions/{id}',
      needs: 'own:write',
      contract: { summary: 'End a session and its sandbox', answers: { 200: sessionAnswer } },
      handler: async (event, { session }) => {
        const correlationId = event.requestContext.requestId;
        await endSession(ports, session, { reason: 'the session was deleted', correlationId });
        const ended = await ports.sessions.get(session.id);
        return json(200, await show(ended ?? session));
      },
    }),
  ];
};

/** A call that waits for a decision belongs to a running turn: no other session's turn is read. */
const runningTurns = async (
  { turns }: SessionPorts,
  listed: readonly Session[],
): Promise<ReadonlyMap<string, TurnRecord>> => {
  const running = listed.filter(({ kind, status }) => kind === 'agent' && status === 'running');
  const found = await Promise.all(running.map(({ id }) => turns.getWithTurn(id)));
  return new Map(found.flatMap((one) => (one?.turn === undefined ? [] : [[one.session.id, one.turn]])));
};

const makeSession = async (
  ports: SessionPorts,
  defaults: SessionDefaults,
  { event, body }: { readonly event: ApiEvent; readonly body: z.output<typeof createSessionBody> },
): Promise<Session> => {
  const { evictIdle, waitSeconds, callerTools, ...options } = sessionOptionsOf(body);
  if (callerTools !== undefined) refuseOffer(callerTools, options.kind);
  const request = { id: randomUUID() as SessionId, principal: principalOf(event), options, defaults };
  const correlationId = event.requestContext.requestId;
  const session = await createSessionWhenFree(ports, request, { waitSeconds, evictIdle, correlationId });
  if (session === undefined) throw new AppError('conflict', 'this session exists');
  if (callerTools !== undefined) await declareTools(ports, session, callerTools);
  return session;
};

/** Checked before a session is created for it. */
const refuseOffer = (caller: Caller, kind: SessionKind = 'agent'): void => {
  if (kind !== 'agent')
    throw new AppError('invalid_request', 'callerTools: an execution session has no agent');
  refuseTaken(caller);
};

const hourMs = 3_600_000;

/** Removes sessions that ended long enough ago, as the tool `session` does. */
const cleanupRoute = (ports: SessionPorts): ApiRoute => ({
  method: 'POST',
  path: '/api/sessions/cleanup',
  needs: 'own:write',
  contract: {
    summary: 'Delete sessions that ended long ago',
    body: cleanupBody,
    answers: { 200: cleanedAnswer },
    errors: ['project_not_found'],
  },
  handler: async (event) => {
    const { project, maxAgeHours } = bodyOf(event, cleanupBody);
    const correlationId = event.requestContext.requestId;
    const forgetFiles = (workspace: WorkspaceId) => ports.forgetter.forgetWorkspace(workspace, correlationId);
    const options = { principal: principalOf(event), project, ageMsMin: maxAgeHours * hourMs, correlationId };
    return json(200, await cleanUpSessions({ ...ports, forgetFiles }, options));
  },
});
