/**
 * Rows that a step writes into the audit log, chained behind the newest decision of their session (AP8). A row's id begins with its
 * time, so a decision is never dated before the one that it follows, whichever clock was read.
 */
import { auditRowView } from '../../../contracts/audit-row.ts';
import type { AuditRow } from '../../../domain/audit.ts';
import { type Hash, type LastDecision, nextLink, rowHash } from '../../../domain/audit-seal.ts';
import type { Session } from '../../../domain/session.ts';
import type { TurnEvent, TurnStep } from '../../../domain/turn/turn.ts';

type Chained = { readonly audits: readonly AuditRow[]; readonly decided?: LastDecision };

export const chainedTo = (head: LastDecision | undefined, rows: readonly AuditRow[], hash: Hash): Chained =>
  rows.reduce<Chained>(
    ({ audits, decided }, row) => {
      if (row.action !== 'approval.decide') return { audits: [...audits, row], ...(decided && { decided }) };
      const chain = nextLink(decided);
      const at = Math.max(row.at, (decided?.at ?? 0) + 1);
      const linked = { ...row, at, chain };
      return {
        audits: [...audits, linked],
        decided: { index: chain.index, hash: rowHash(auditRowView(linked), hash), at },
      };
    },
    { audits: [], ...(head === undefined ? {} : { decided: head }) },
  );

/** Of a call that a rule over effects decided: no person was asked, and the record says which rule it was (AP9). */
export const ruleAuditRows = (
  { id, project }: Pick<Session, 'id' | 'project'>,
  event: TurnEvent,
  { log }: Pick<TurnStep, 'log'>,
): readonly AuditRow[] => {
  if (event.type !== 'trial-ended' || event.trial.state !== 'tried') return [];
  const { effectDigest } = event.trial;
  return log.flatMap((entry) => {
    if (entry.type !== 'tool:decided' || entry.data.callId !== event.callId) return [];
    const { by, ...decided } = entry.data;
    const detail = { sessionId: id, ...decided, by: { ...by }, effectDigest };
    const row = { at: event.at, actor: by, scope: `project:${project}`, action: 'approval.decide' };
    return [{ ...row, subject: id, project, detail }];
  });
};
