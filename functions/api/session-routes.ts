/** `/sessions`: created, listed, shown, ended. */

import { randomUUID } from 'node:crypto';
import type * as z from 'zod';
import type { AuditDeps, Deps, SessionDeps, StopDeps } from '#shared/application/deps.ts';
import { branchSession, forkSession } from '#shared/application/session/branch-session.ts';
import { changeBudget } from '#shared/application/session/change-budget.ts';
import { changeNetwork } from '#shared/application/session/change-network.ts';
import { changeSession } from '#shared/application/session/change-session.ts';
import { cleanUpSessions } from '#shared/application/session/clean-up-sessions.ts';
import {
  type CreateRequest,
  createSession,
  type SessionDefaults,
} from '#shared/application/session/create-session.ts';
import { listSessions } from '#shared/application/session/list-sessions.ts';
import { resumeSession } from '#shared/application/session/resume-session.ts';
import { showTree } from '#shared/application/session/show-tree.ts';
import { declareTools, refuseTaken } from '#shared/application/turn/requests/caller-tools.ts';
import { endSession } from '#shared/application/turn/requests/end-session.ts';
import {
  cleanupBody,
  createSessionBody,
  listQuery,
  sessionOptionsOf,
} from '#shared/contracts/rest/bodies.ts';
import { networkOf } from '#shared/contracts/rest/network.ts';
import { detailsChange, updateSessionBody } from '#shared/contracts/rest/session-bodies.ts';
import {
  cleanedAnswer,
  sessionAnswer,
  sessionsAnswer,
  sessionView,
} from '#shared/contracts/rest/session-view.ts';
import { treeAnswer, treeView } from '#shared/contracts/rest/tree-view.ts';
import type { Caller } from '#shared/domain/caller-tool.ts';
import type { Lifetimes } from '#shared/domain/idle-time.ts';
import type { SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import type { Session, SessionKind } from '#shared/domain/session.ts';
import type { TurnLimits, TurnRecord } from '#shared/domain/turn/turn.ts';
import { AppError } from '#shared/errors.ts';
import { type ApiEvent, type ApiRoute, json, principalOf, queryOf } from './api-route.ts';
import { answerWhenDone } from './keep-alive-response.ts';
import { pauseRoute } from './pause-route.ts';
import { bodyOf } from './request-body.ts';
import { onSession } from './resource-route.ts';

export type SessionPorts = SessionDeps &
  AuditDeps &
  StopDeps &
  Deps<'callers' | 'environments' | 'sandboxAuthority' | 'forgetter' | 'snapshots' | 'trees'>;

const createErrors = [
  'invalid_flavor',
  'unsupported_language',
  'project_not_found',
  'workspace_not_found',
  'session_not_found',
  'not_found',
  'conflict',
  'resource_limit_exceeded',
  'sandbox_unavailable',
] as const;

export const sessionRoutes = ({
  ports,
  settings,
  limits: { usdMax },
}: {
  readonly ports: SessionPorts;
  readonly settings: SessionDefaults;
  readonly limits: TurnLimits;
}): readonly ApiRoute[] => {
  const viewOf = (session: Session, workspace: Workspace | undefined, turn?: TurnRecord) =>
    sessionView(session, {
      turn,
      workspace,
      now: ports.world.now(),
      lifetimes: settings.lifetimes,
      usdMax,
    });
  const show = async (session: Session, turn?: TurnRecord) =>
    viewOf(session, await ports.workspaces.get(session.workspace), turn);
  return [
    createRoute(ports, settings, show),
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
          ...queryOf(event, listQuery, ['label']),
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
      method: 'GET',
      path: '/api/sessions/{id}/tree',
      needs: 'own:read',
      contract: {
        summary: 'Show a session with all sessions that its agents started, and what each branch has spent',
        answers: { 200: treeAnswer },
      },
      handler: async (_event, { session }) => json(200, treeView(await showTree(ports, session), usdMax)),
    }),
    changeRoute(ports, { lifetimes: settings.lifetimes, operatorUsdMax: usdMax, show }),
    resumeRoute(ports, show),
    pauseRoute(ports, show),
    onSession(ports, {
      method: 'DELETE',
      path: '/api/sessions/{id}',
      needs: 'own:write',
      contract: { summary: 'End a session and its sandbox', answers: { 200: sessionAnswer } },
      handler: async (_event, { session }) => {
        await endSession(ports, session, { reason: 'the session was deleted' });
        const ended = await ports.sessions.get(session.id);
        return json(200, await show(ended ?? session));
      },
    }),
  ];
};

const createRoute = (
  ports: SessionPorts,
  settings: SessionDefaults,
  show: (session: Session) => Promise<unknown>,
): ApiRoute => ({
  method: 'POST',
  path: '/api/sessions',
  needs: 'own:write',
  contract: {
    summary: 'Create a session',
    body: createSessionBody,
    answers: { 201: sessionAnswer },
    errors: createErrors,
  },
  handler: async (event) => {
    const body = bodyOf(event, createSessionBody);
    const { requestId } = event.requestContext;
    // A fork saves the files of its source first.
    const work = async () => show(await makeSession(ports, settings, { event, body }));
    return answerWhenDone(work, { requestId, telemetry: ports.telemetry, status: () => 201 });
  },
});

type Showing = {
  readonly lifetimes: Lifetimes;
  readonly operatorUsdMax: number;
  readonly show: (session: Session, turn: TurnRecord) => Promise<unknown>;
};

const changeRoute = (ports: SessionPorts, { lifetimes, operatorUsdMax, show }: Showing): ApiRoute =>
  onSession(ports, {
    method: 'PATCH',
    path: '/api/sessions/{id}',
    needs: 'own:write',
    contract: {
      summary:
        'Change the title, the labels, the lifetimes, the network, the thinking or the budget of a session',
      body: updateSessionBody,
      answers: { 200: sessionAnswer },
      errors: ['project_not_found'],
    },
    handler: async (event, { session, turn }) => {
      const body = bodyOf(event, updateSessionBody);
      const change = detailsChange(body);
      const network = body.network === undefined ? undefined : networkOf(body.network);
      const reached =
        network === undefined
          ? session
          : await changeNetwork(ports, session, { principal: principalOf(event), network });
      const principal = principalOf(event);
      const { maxCostUsd: costUsdMax } = body;
      const paid =
        costUsdMax === undefined
          ? reached
          : await changeBudget(ports, reached, { principal, costUsdMax, operatorUsdMax });
      return json(200, await show(await changeSession(ports, paid, { change, lifetimes }), turn));
    },
  });

const resumeRoute = (ports: SessionPorts, show: (session: Session) => Promise<unknown>): ApiRoute =>
  onSession(ports, {
    method: 'POST',
    path: '/api/sessions/{id}/resume',
    needs: 'own:write',
    contract: {
      summary: 'Reopen an ended agent session',
      answers: { 200: sessionAnswer },
      errors: ['invalid_session_state', 'resource_limit_exceeded', 'project_not_found'],
    },
    handler: async (event, { session }) =>
      json(200, await show(await resumeSession(ports, session, principalOf(event)))),
  });

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
  const { callerTools, env, ...chosen } = sessionOptionsOf(body);
  const id = randomUUID() as SessionId;
  const environment =
    env === undefined || Object.keys(env).length === 0 ? undefined : ports.environments.seal(id, env);
  const options = { ...chosen, environment };
  if (callerTools !== undefined) refuseOffer(callerTools, options.kind);
  const principal = principalOf(event);
  const session = await make(ports, { id, principal, options, defaults }, body.from);
  if (session === undefined) throw new AppError('conflict', 'a session with this id already exists');
  if (callerTools !== undefined) await declareTools(ports, session, callerTools);
  return session;
};

const make = (
  ports: SessionPorts,
  request: Omit<CreateRequest, 'sourceIn' | 'continues'>,
  from: z.output<typeof createSessionBody>['from'],
): Promise<Session | undefined> => {
  if (from?.session !== undefined && from.messageId !== undefined) {
    const { messageId, files } = from;
    return branchSession(ports, { ...request, of: { session: from.session as SessionId, messageId, files } });
  }
  return from === undefined ? createSession(ports, request) : forkSession(ports, { ...request, of: from });
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
    summary: 'Delete ended sessions',
    body: cleanupBody,
    answers: { 200: cleanedAnswer },
    errors: ['project_not_found'],
  },
  handler: async (event) => {
    const { project, maxAgeHours, sessions } = bodyOf(event, cleanupBody);
    const only = sessions as readonly SessionId[] | undefined;
    const forgetFiles = (workspace: WorkspaceId) => ports.forgetter.forgetWorkspace(workspace);
    const options = {
      principal: principalOf(event),
      project,
      only,
      ageMsMin: maxAgeHours * hourMs,
    };
    return json(200, await cleanUpSessions({ ...ports, forgetFiles }, options));
  },
});
