/** The audit log as compact JSON lines, oldest first: the public key, each row with its hash, each seal behind its rows, and an end with the counts. */
import { auditRowView } from '../../contracts/audit-row.ts';
import { auditShownMs } from '../../domain/audit.ts';
import { rowHash, type Seal } from '../../domain/audit-seal.ts';
import type { Deps } from '../deps.ts';
import { settledMs } from './seal-audit.ts';

const pageRowsMax = 500;

export type ExportDeps = Deps<'auditLog' | 'auditSeals' | 'sealKey' | 'world'>;

export async function* exportAudit(ports: ExportDeps): AsyncGenerator<string> {
  const { auditLog, auditSeals, sealKey, world } = ports;
  const key = await sealKey.publicKey();
  if (key !== undefined) yield line({ type: 'key', ...key });
  const until = world.now();
  const counts = { rows: 0, seals: 0 };
  // A seal that is made concurrently holds rows that this file may lack.
  const unlessLater = (seal: Seal | undefined) =>
    seal !== undefined && seal.through <= until - settledMs ? seal : undefined;
  const oldest = Math.max(0, until - auditShownMs);
  const first = await firstSeal(ports, { oldest, until });
  const from = Math.max(oldest, first?.from ?? 0);
  let seal = unlessLater(first);
  async function* sealsThrough(at: number): AsyncGenerator<string> {
    while (seal !== undefined && seal.through <= at) {
      counts.seals += 1;
      yield line({ type: 'seal', ...seal });
      seal = unlessLater(await auditSeals.read(seal.number + 1));
    }
  }
  let after: string | undefined;
  do {
    const page = await auditLog.read({ from, through: until, after, itemsMax: pageRowsMax });
    for (const { id, row } of page.rows) {
      yield* sealsThrough(row.at);
      const view = auditRowView(row);
      counts.rows += 1;
      yield line({ type: 'row', id, ...view, hash: rowHash(view, world.sha256) });
    }
    after = page.next;
  } while (after !== undefined);
  yield* sealsThrough(until);
  yield line({ type: 'end', ...counts });
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;

type Shown = { readonly oldest: number; readonly until: number };

/** The first whose rows are all retained: those of an earlier one are deleted after a year, some sooner than older ones. Found by halving. */
const firstSeal = async (
  { auditLog, auditSeals: seals }: ExportDeps,
  { oldest, until }: Shown,
): Promise<Seal | undefined> => {
  const [row] = (await auditLog.read({ from: oldest, through: until, itemsMax: 1 })).rows;
  const last = await seals.last();
  if (row === undefined || last === undefined || last.through <= row.row.at) return undefined;
  const oldestAt = row.row.at;
  let [low, high] = [1, last.number];
  let found: Seal | undefined = last;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const seal = await seals.read(middle);
    if (seal === undefined || seal.through <= oldestAt) low = middle + 1;
    else {
      high = middle;
      found = seal;
    }
  }
  if (found.number !== low) found = (await seals.read(low)) ?? last;
  // One whose time begins before the last year may have lost some of its rows.
  const isWhole = found.from >= oldest || (found.number === 1 && !(await hasOlder(auditLog, oldest)));
  return isWhole ? found : seals.read(found.number + 1);
};

const hasOlder = async (auditLog: ExportDeps['auditLog'], oldest: number): Promise<boolean> =>
  (await auditLog.read({ from: 0, through: oldest, itemsMax: 1 })).rows.length > 0;
