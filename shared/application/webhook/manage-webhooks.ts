/**
 * Manages webhooks: create, list, change, delete, test. One of a project needs a scope of that project, one of
 * the deployment a scope of the deployment; another owner's is answered as not found (AC2).
 */

import { type Intent, mayRead, projectOf } from '../../domain/access.ts';
import { isUuid, type ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import { webhooksMax, webhooksPerProjectMax } from '../../domain/webhook/limits.ts';
import { ownedBy, type Webhook, type WebhookEvent, type WebhookId } from '../../domain/webhook/webhook.ts';
import { AppError } from '../../errors.ts';
import { type AuditEntry, audit, auditRow, recordAudit } from '../access/audit.ts';
import { findProject, projectNotFound } from '../access/find-project.ts';
import { requirePermission, requireReach } from '../access/require-permission.ts';
import type { Deps, WebhookDeps } from '../deps.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';

export const webhookNotFound = (): AppError =>
  new AppError('not_found', 'there is no such webhook', { suggestions: ['List the webhooks.'] });

export const findWebhook = async (
  { webhooks }: Deps<'webhooks'>,
  { id, principal, intent }: { readonly id: string; readonly principal: Principal; readonly intent: Intent },
): Promise<Webhook> => {
  const webhook = isUuid(id) ? await webhooks.get(id as WebhookId) : undefined;
  if (webhook === undefined) throw webhookNotFound();
  requireReach(principal, ownedBy(webhook), { intent, notFound: webhookNotFound });
  return webhook;
};

/** Newest first: all that may be read, or those of one project. */
export const listWebhooks = async (
  { webhooks, projects }: Deps<'webhooks' | 'projects'>,
  principal: Principal,
  project?: string,
): Promise<readonly Webhook[]> => {
  const only = project && (await findProject(projects, { id: project, principal, intent: 'read' })).id;
  const { webhooks: all } = await webhooks.list();
  return all.filter(
    (webhook) => mayRead(principal, ownedBy(webhook)) && (only === undefined || webhook.project === only),
  );
};

export type WebhookOptions = {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly enabled: boolean;
  readonly project?: string | undefined;
};

export const createWebhook = async (
  ports: WebhookDeps,
  principal: Principal,
  options: WebhookOptions,
): Promise<{ readonly webhook: Webhook; readonly secret: string }> => {
  const { webhookGuard, webhookSecrets, world } = ports;
  const project = await projectFor(ports, principal, options.project);
  await webhookGuard.check(options.url);
  const now = world.now();
  const webhook: Webhook = {
    id: world.uuid() as WebhookId,
    ...(project === undefined ? {} : { project }),
    owner: principal.owner,
    ...(principal.isPerson ? { isPerson: true } : {}),
    url: options.url,
    events: options.events,
    isEnabled: options.enabled,
    enabledAt: now,
    createdAt: now,
    updatedAt: now,
    version: 0,
  };
  const secret = webhookSecrets.newSecret();
  await add(ports, webhook, secret);
  await audit(ports, principal, entryOf('webhook.create', webhook));
  return { webhook, secret };
};

/** The host alone: the rest of an address may hold a credential. */
const entryOf = (
  action: `webhook.${'create' | 'update' | 'delete'}`,
  { id, project, url, events, isEnabled }: Webhook,
): AuditEntry => ({
  action,
  subject: id,
  project,
  detail: { host: hostOf(url), events: [...events], isEnabled },
});

const hostOf = (url: string): string => /^https?:\/\/([^/?#]*)/i.exec(url)?.[1] ?? '';

/** Undefined: a webhook of the deployment, for which the caller needs `global:write`. */
const projectFor = async (
  { projects }: WebhookDeps,
  principal: Principal,
  named: string | undefined,
): Promise<ProjectId | undefined> => {
  const id = named ?? projectOf(principal.scope);
  if (id !== undefined) return (await findProject(projects, { id, principal, intent: 'write' })).id;
  requirePermission(principal, 'global:write');
  return undefined;
};

/** Keeps the limits under concurrent calls: a create over an old version is tried again. */
const add = ({ webhooks }: WebhookDeps, webhook: Webhook, secret: string): Promise<void> =>
  untilWon(async () => {
    const { webhooks: all, version } = await webhooks.list();
    const beside = all.filter(({ project }) => project === webhook.project).length;
    if (beside >= webhooksPerProjectMax || all.length >= webhooksMax) throw tooMany();
    const created = await webhooks.create(webhook, { secret, version });
    if (created === 'gone') throw projectNotFound();
    return created === 'created' ? undefined : raceLost;
  }, changesTooOften('the list of webhooks'));

export type WebhookChange = {
  readonly url?: string | undefined;
  readonly events?: readonly WebhookEvent[] | undefined;
  readonly enabled?: boolean | undefined;
};

export const changeWebhook = async (
  ports: WebhookDeps,
  principal: Principal,
  { id, change }: { readonly id: string; readonly change: WebhookChange },
): Promise<Webhook> => {
  if (change.url !== undefined) await ports.webhookGuard.check(change.url);
  const written = await untilWon(async () => {
    const read = await findWebhook(ports, { id, principal, intent: 'write' });
    return (await ports.webhooks.replace(changed(read, change, ports.world.now()))) ?? raceLost;
  }, changesTooOften('the webhook'));
  await audit(ports, principal, entryOf('webhook.update', written));
  if (change.enabled) await dispatch(ports, written.id);
  return written;
};

/** Enabling one gives its waiting deliveries another day, and so does another address: the former one's failures are not its own (WH4). */
const changed = (read: Webhook, { url, events, enabled }: WebhookChange, now: number): Webhook => {
  const { disabledReason, disabledAt, ...rest } = read;
  const next: Webhook = {
    ...rest,
    ...(url === undefined || url === read.url ? {} : { url, enabledAt: now }),
    ...(events === undefined ? {} : { events }),
    updatedAt: now,
  };
  if (enabled === true) return { ...next, isEnabled: true, enabledAt: now };
  if (enabled === false) return { ...next, isEnabled: false };
  return {
    ...next,
    ...(disabledReason === undefined ? {} : { disabledReason }),
    ...(disabledAt === undefined ? {} : { disabledAt }),
  };
};

export const removeWebhook = async (
  ports: WebhookDeps,
  principal: Principal,
  webhook: Webhook,
): Promise<void> => {
  const row = auditRow(principal, ports.world.now(), entryOf('webhook.delete', webhook));
  if (!(await ports.webhooks.remove(webhook.id, [row]))) throw webhookNotFound();
  recordAudit(ports.telemetry, row);
  await dispatch(ports, webhook.id);
};

/** If the sender could not be invoked, the sweep does it (WH9), or the rest of a deleted webhook expires. */
const dispatch = async (ports: WebhookDeps, id: WebhookId): Promise<void> => {
  try {
    await ports.webhookDispatcher.dispatch(id);
  } catch (error) {
    ports.telemetry.warn('a webhook waits for the sweep', { error, webhookId: id });
  }
};

const tooMany = (): AppError =>
  new AppError(
    'resource_limit_exceeded',
    `at most ${webhooksPerProjectMax} webhooks for one project, as many for all projects together, and ${webhooksMax} in the deployment`,
    { suggestions: ['Delete one that is no longer used.'] },
  );
