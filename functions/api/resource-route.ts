/**
 * Routes of one session, project, schedule or webhook: it is found by the path's `id` before anything else of the
 * request is read, and checked for the route's permission, so that a stranger's is answered exactly as none
 * (AC2).
 */

import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { findProject } from '#shared/application/access/find-project.ts';
import { findSchedule } from '#shared/application/access/find-schedule.ts';
import { type FoundSession, findSession } from '#shared/application/access/find-session.ts';
import { requirePermission } from '#shared/application/access/require-permission.ts';
import type { Deps } from '#shared/application/deps.ts';
import { findWebhook } from '#shared/application/webhook/manage-webhooks.ts';
import { intentOf, mayUse, type Permission } from '#shared/domain/access.ts';
import type { Project } from '#shared/domain/project.ts';
import type { ScheduleState } from '#shared/domain/schedule/next-step.ts';
import type { Webhook } from '#shared/domain/webhook/webhook.ts';
import { type ApiEvent, type ApiRoute, pathId, principalOf } from './api-route.ts';
import { refuseFields } from './request-body.ts';

type ResourceRoute<Found> = Omit<ApiRoute, 'needs' | 'resource' | 'handler'> & {
  readonly needs: Extract<Permission, 'own:read' | 'own:write'>;
  readonly handler: (event: ApiEvent, found: Found) => Promise<StreamedResult>;
};

const options = (event: ApiEvent, permission: Permission) => ({
  id: pathId(event),
  principal: principalOf(event),
  intent: intentOf(permission),
});

/** The resource is judged before anything that the request carries. */
const afterFinding =
  <Found>(
    { needs, contract }: Omit<ResourceRoute<Found>, 'handler'>,
    handler: ResourceRoute<Found>['handler'],
    find: (asked: ReturnType<typeof options>) => Promise<Found>,
  ): ApiRoute['handler'] =>
  async (event) => {
    const found = await find(options(event, needs));
    refuseFields(event, contract);
    return handler(event, found);
  };

export const onSession = (
  { turns }: Deps<'turns'>,
  { handler, ...route }: ResourceRoute<FoundSession>,
): ApiRoute => ({
  ...route,
  resource: 'session',
  handler: afterFinding(route, handler, (asked) => findSession(turns, asked)),
});

export const onProject = (
  { projects }: Deps<'projects'>,
  { handler, ...route }: ResourceRoute<Project>,
): ApiRoute => ({
  ...route,
  resource: 'project',
  handler: afterFinding(route, handler, (asked) => findProject(projects, asked)),
});

/**
 * A change of a project itself, by callers who may write resources of the deployment: the handler finds it, since
 * it may be half deleted already. Any other caller gets the answer to any access to it.
 */
export const onProjectItself = (
  { projects }: Deps<'projects'>,
  { handler, ...route }: Omit<ApiRoute, 'needs' | 'resource'>,
): ApiRoute => ({
  ...route,
  needs: 'global:write',
  resource: 'project',
  handler: async (event) => {
    const principal = principalOf(event);
    if (!mayUse(principal, 'global:write')) {
      await findProject(projects, { ...options(event, 'own:read'), principal });
      requirePermission(principal, 'global:write');
    }
    return handler(event);
  },
});

export const onSchedule = (
  ports: Deps<'schedules'>,
  { handler, ...route }: ResourceRoute<ScheduleState>,
): ApiRoute => ({
  ...route,
  resource: 'schedule',
  handler: afterFinding(route, handler, (asked) => findSchedule(ports, asked)),
});

export const onWebhook = (
  ports: Deps<'webhooks'>,
  { handler, ...route }: ResourceRoute<Webhook>,
): ApiRoute => ({
  ...route,
  resource: 'webhook',
  handler: afterFinding(route, handler, (asked) => findWebhook(ports, asked)),
});
