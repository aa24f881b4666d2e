/**
 * A webhook: an address outside that is told what happens in sessions, and of which events it is told.
 *
 * One of a project hears of that project, one without a project of all of them. One that a person made hears of that
 * person's sessions alone: no webhook tells its owner of a session that the owner may not read (WH7). Invariants WH1..WH9:
 * docs/spec/webhooks.md.
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
  /** Absent: of the deployment. */
  readonly project?: ProjectId;
  readonly owner: OwnerId;
  /** Its owner is a person of the project. */
  readonly isPerson?: true;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly isEnabled: boolean;
  /** Why and when the platform itself disabled it. */
  readonly disabledReason?: string;
  /** Epoch milliseconds, as every time here. */
  readonly disabledAt?: number;
  /** The day of its retries begins here at the earliest. */
  readonly enabledAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Grows with every change. */
  readonly version: number;
};

/** The project of what belongs to none: no scope is bound to it. */
const noProject = '' as ProjectId;

/** Its owner, for the matrix: the deployment's is of no project, so that only scopes of the deployment reach it. */
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
};

export const hears = ({ isEnabled, events, project, isPerson, owner }: Webhook, subject: Subject): boolean =>
  isEnabled &&
  events.includes(subject.type) &&
  (project === undefined || project === subject.project) &&
  (isPerson !== true || owner === subject.owner);
