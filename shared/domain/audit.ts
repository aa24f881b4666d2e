/** A row of the audit log: actor, action and subject, stored apart from logs and for longer. */
import type { ChainLink } from './audit-seal.ts';
import type { ProjectId } from './ids.ts';
import type { JsonObject } from './json.ts';
import type { Decider } from './principal.ts';

/** A row is shown and exported for so long, in milliseconds. The table deletes rows a day later and after, in no order. */
export const auditShownMs = 365 * 86_400_000;

export type AuditRow = {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly actor: Decider;
  readonly scope: string;
  /** `token.create`, `approval.decide` … */
  readonly action: string;
  /** The id of what was acted on. */
  readonly subject: string;
  /** The project it happened in; absent: in the deployment. */
  readonly project?: ProjectId;
  readonly detail: JsonObject;
  /** Of a decision: its place among those of its session. */
  readonly chain?: ChainLink;
};
