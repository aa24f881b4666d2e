/**
 * Seals the audit log: one signed root over every row since the last seal. The newest rows wait for the next one, since a
 * write that has its time already may still be on its way.
 *
 * A time without rows has no seal. Two janitors at once write the same number: the first one stays, and each is whole.
 */

import { auditRowView } from '../../contracts/audit-row.ts';
import { iso } from '../../contracts/fields.ts';
import {
  type Hash,
  headsOf,
  noHash,
  rootOf,
  rowHash,
  rowsHash,
  type Seal,
  sealHash,
  sealText,
} from '../../domain/audit-seal.ts';
import type { Deps } from '../deps.ts';

/** A write of a row takes less, in milliseconds. */
export const settledMs = 60_000;
const pageRowsMax = 500;
/** Rows of one seal; the rest is in the next one. */
const sealRowsMax = 100_000;

export type SealDeps = Deps<'auditLog' | 'auditSeals' | 'sealKey' | 'telemetry' | 'world'>;

export const sealAudit = async (ports: SealDeps): Promise<{ readonly sealed: number }> => {
  const { auditSeals, sealKey, telemetry, world } = ports;
  const hash: Hash = world.sha256;
  const last = await auditSeals.last();
  const from = last?.through ?? 0;
  const { rows, through } = await rowsSince(ports, from, world.now() - settledMs);
  if (rows.length === 0) return { sealed: 0 };
  const time = {
    ...{ from, through, rows: rows.length },
    rowsHash: rowsHash(
      rows.map((row) => row.hash),
      hash,
    ),
    heads: headsOf(rows),
  };
  const previous = last === undefined ? noHash : sealHash(last, hash);
  const unsigned = {
    ...time,
    ...{ number: (last?.number ?? 0) + 1, previous, root: rootOf({ ...time, previous }, hash) },
    at: iso(world.now()),
  };
  const seal: Seal = { ...unsigned, ...(await sealKey.sign(sealText(unsigned))) };
  await auditSeals.write(seal);
  telemetry.info('the audit log was sealed', { event: 'audit_sealed', number: seal.number, rows: seal.rows });
  return { sealed: seal.rows };
};

const rowsSince = async ({ auditLog, world }: SealDeps, from: number, until: number) => {
  const rows = [];
  let after: string | undefined;
  for (;;) {
    const page = await auditLog.read({ from, through: until, after, itemsMax: pageRowsMax });
    for (const { row } of page.rows) {
      const view = auditRowView(row);
      rows.push({ at: row.at, subject: row.subject, chain: row.chain, hash: rowHash(view, world.sha256) });
    }
    after = page.next;
    if (after === undefined) return { rows, through: until };
    // A millisecond is never divided between two seals.
    const end = rows.at(-1)?.at ?? until;
    if (rows.length >= sealRowsMax) return { rows: rows.filter(({ at }) => at < end), through: end };
  }
};
