/** `/approvals`, `/sessions/{id}/approvals` and `/grants`: waiting calls listed and decided, grants listed and withdrawn. */

import { findSession } from '#shared/application/access/find-session.ts';
import { findApproval, listApprovals } from '#shared/application/approval/list-approvals.ts';
import { restartForPrompt } from '#shared/application/approval/restart-for-prompt.ts';
import { withdrawGrant } from '#shared/application/approval/withdraw-grant.ts';
import type { Deps } from '#shared/application/deps.ts';
import { decideCall } from '#shared/application/turn/requests/decide-call.ts';
import {
  approvalAnswer,
  approvalsAnswer,
  approvalsQuery,
  decidedAnswer,
  grantAnswer,
  grantsAnswer,
  grantView,
} from '#shared/contracts/rest/approval-view.ts';
import { approval } from '#shared/contracts/socket-actions.ts';
import { approvalsPageItemsMax } from '#shared/domain/limits.ts';
import { grantsInForce } from '#shared/domain/turn/approval-policy.ts';
import type { TurnLimits } from '#shared/domain/turn/turn.ts';
import { type ApiRoute, json, pathId, pathValue, principalOf, queryOf } from './api-route.ts';
import { bodyOf } from './request-body.ts';
import { onSession } from './resource-route.ts';
import type { SessionPorts } from './session-routes.ts';

export type ApprovalPorts = SessionPorts & Deps<'approvals' | 'sandboxReturner'>;

type Approvals = { readonly ports: ApprovalPorts; readonly limits: TurnLimits };

export const approvalRoutes = (api: Approvals): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/api/approvals',
    needs: 'own:read',
    contract: {
      summary: 'List the tool calls that need approval, oldest first',
      query: approvalsQuery,
      answers: { 200: approvalsAnswer },
      errors: ['project_not_found'],
    },
    handler: async (event) => {
      const search = { ...queryOf(event, approvalsQuery), principal: principalOf(event) };
      return json(200, await listApprovals(api.ports, { ...search, itemsMax: approvalsPageItemsMax }));
    },
  },
  onSession(api.ports, {
    method: 'GET',
    path: '/api/sessions/{id}/approvals/{callId}',
    needs: 'own:read',
    contract: {
      summary: 'Show a tool call that needs approval, in full',
      answers: { 200: approvalAnswer },
      errors: ['invalid_request', 'not_found'],
    },
    handler: async (event, found) => {
      const request = findApproval(found, pathValue(event, 'callId'));
      await restartForPrompt(api.ports, found, principalOf(event));
      return json(200, { sessionId: found.session.id, ...request });
    },
  }),
  decideRoute(api),
  ...grantRoutes(api),
];

/** The decision itself finds the session, and audits an attempt on another owner's. */
const decideRoute = ({ ports, limits }: Approvals): ApiRoute => ({
  method: 'POST',
  path: '/api/sessions/{id}/approvals/{callId}',
  needs: 'own:write',
  resource: 'session',
  contract: {
    summary: 'Approve or reject a tool call',
    body: approval,
    answers: { 200: decidedAnswer },
    errors: ['no_pending_tool_call', 'conflict', 'resource_limit_exceeded'],
  },
  handler: async (event) => {
    const principal = principalOf(event);
    const sessionId = pathId(event);
    const find = () => findSession(ports.turns, { id: sessionId, principal, intent: 'write' });
    const callId = pathValue(event, 'callId');
    const decided = await decideCall(ports, {
      sessionId,
      callId,
      find,
      decisionOf: () => ({ ...bodyOf(event, approval), callId }),
      principal,
      limits,
    });
    return json(200, decided);
  },
});

const grantRoutes = ({ ports, limits }: Approvals): readonly ApiRoute[] => [
  onSession(ports, {
    method: 'GET',
    path: '/api/sessions/{id}/grants',
    needs: 'own:read',
    contract: { summary: 'List the grants of a session', answers: { 200: grantsAnswer } },
    handler: async (_event, { session, turn }) =>
      json(200, { grants: grantsInForce(session, turn).map(grantView) }),
  }),
  onSession(ports, {
    method: 'DELETE',
    path: '/api/sessions/{id}/grants/{grantId}',
    needs: 'own:write',
    contract: {
      summary: 'Withdraw a grant',
      answers: { 200: grantAnswer },
      errors: ['invalid_request', 'not_found', 'conflict', 'invalid_session_state'],
    },
    handler: async (event, found) => {
      const grant = await withdrawGrant(ports, found, {
        grantId: pathValue(event, 'grantId'),
        principal: principalOf(event),
        limits,
      });
      return json(200, grantView(grant));
    },
  }),
];
