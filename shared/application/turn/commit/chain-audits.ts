/**
 * Chains the rows that a step writes into the audit log behind the newest decision of their session (AP8). A row's id begins with its
 * time, so a decision is never dated before the one that it follows, whichever clock was read.
 */
import { auditRowView } from '../../../contracts/audit-row.ts';
import type { AuditRow } from '../../../domain/audit.ts';
import { type Hash, type LastDecision, nextLink, rowHash } from '../../../domain/audit-seal.ts';

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
