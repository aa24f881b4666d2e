/** Chains the rows that a step writes into the audit log behind the newest decision of their session (AP8). */
import { auditRowView } from '../../../contracts/audit-row.ts';
import type { AuditRow } from '../../../domain/audit.ts';
import { type ChainHead, type Hash, nextLink, rowHash } from '../../../domain/audit-seal.ts';

type Chained = { readonly audits: readonly AuditRow[]; readonly decided?: ChainHead };

export const chainedTo = (head: ChainHead | undefined, rows: readonly AuditRow[], hash: Hash): Chained =>
  rows.reduce<Chained>(
    ({ audits, decided }, row) => {
      if (row.action !== 'approval.decide') return { audits: [...audits, row], ...(decided && { decided }) };
      const chain = nextLink(decided);
      const linked = { ...row, chain };
      return {
        audits: [...audits, linked],
        decided: { index: chain.index, hash: rowHash(auditRowView(linked), hash) },
      };
    },
    { audits: [], ...(head === undefined ? {} : { decided: head }) },
  );
