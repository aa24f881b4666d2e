/** Who changed what: tokens, projects, schedules, the registry. Kept apart from logs, for longer. */
export type AuditRow = {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The beginning of the hash of the token that asked. */
  readonly actor: string;
  readonly scope: string;
  /** `token.create`, `project.create` … */
  readonly operation: string;
  readonly target: string;
};

export interface AuditLog {
  append(row: AuditRow): Promise<void>;
}
