/**
 * A webhook: an external address that receives events of sessions, and the events it selects.
 *
 * A project's webhook covers that project, one without a project all of them. A webhook that a person made covers
 * that person's sessions alone: no webhook tells its owner of a session that the owner may not read (WH7).
 * Invariants WH1..WH9: docs/spec/webhooks.md.
 */
import type { Owned } from '../access.ts';
import type { OwnerId, ProjectId } from '../ids.ts';

export type WebhookId = string & { readonly brand: 'WebhookId' };

export const webhookEvents = [
  'approval_required',
  'turn_completed',
  'turn_failed',
  'sandbox_failed',
  'schedule_failed',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

export type Webhook = {
  readonly id: WebhookId;
  /** Absent: the deployment's. */
  readonly project?: ProjectId;
  readonly owner: OwnerId;
  /** Its owner is a person of the project. */
  readonly isPerson?: true;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly isEnabled: boolean;
  /** Reason and time of the platform's disabling it. */
  readonly disabledReason?: string;
  /** Epoch milliseconds, as every time here. */
  readonly disabledAt?: number;
  /** The earliest begin of the day of its retries. */
  readonly enabledAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Grows with every change. */
  readonly version: number;
};

/** The project of a resource that belongs to none: no scope is bound to it. */
const noProject = '' as ProjectId;

/** Its owner, for the matrix: the deployment's has no project, so that only scopes of the deployment reach it. */
export const ownedBy = ({ project = noProject, owner }: Pick<Webhook, 'project' | 'owner'>): Owned => ({
  project,
  owner,
});

/** The properties of an event by which a webhook selects it. */
export type Subject = {
  readonly type: WebhookEvent;
  readonly project: ProjectId;
  /** The owner of the session or schedule. */
  readonly owner: OwnerId;
  /** It is about something that reaches into other projects as well: no webhook of one project may read it. */
  readonly isShared?: boolean;
};

export const hears = ({ isEnabled, events, project, isPerson, owner }: Webhook, subject: Subject): boolean =>
  isEnabled &&
  events.includes(subject.type) &&
  (project === undefined || (project === subject.project && subject.isShared !== true)) &&
  (isPerson !== true || owner === subject.owner);
