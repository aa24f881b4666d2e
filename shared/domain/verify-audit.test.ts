import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  headsOf,
  nextLink,
  noHash,
  rootOf,
  rowHash,
  rowsHash,
  type Seal,
  sealHash,
  sealText,
} from './audit-seal.ts';
import type { JsonObject } from './json.ts';
import { type ExportedRow, type ExportLine, verifyAudit } from './verify-audit.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const { privateKey, publicKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const publicKey = key.export({ type: 'spki', format: 'pem' }).toString();
const isSigned = (text: string, signature: string, pem: string): boolean =>
  verify('sha256', Buffer.from(text), pem, Buffer.from(signature, 'base64'));

const start = Date.parse('2026-01-01T00:00:00.000Z');
const withHash = ({ type, id, hash: _, ...row }: JsonObject): ExportedRow =>
  ({ type, id, ...row, hash: rowHash(row, hash) }) as unknown as ExportedRow;

/** Six rows, every other one a decision of one session. */
const rows: ExportedRow[] = [];
let head: { index: number; hash: string } | undefined;
for (let number = 0; number < 6; number += 1) {
  const at = start + number * 1000;
  const isDecision = number % 2 === 0;
  const chain = nextLink(head);
  const row = withHash({
    ...{
      type: 'row',
      id: `${at}#0000000${number}`,
      at: new Date(at).toISOString(),
      actor: 'a',
      actorKind: 'token',
    },
    ...{ scope: 'admin', action: isDecision ? 'approval.decide' : 'token.create' },
    ...(isDecision ? { subject: 'session', chain: { ...chain } } : { subject: `token ${number}` }),
    detail: { number },
  });
  if (isDecision) head = { index: chain.index, hash: row.hash };
  rows.push(row);
}
const sealOf = (covered: readonly ExportedRow[], before: Seal | undefined, through: number): Seal => {
  const previous = before === undefined ? noHash : sealHash(before, hash);
  const time = {
    ...{ from: before?.through ?? 0, through, rows: covered.length },
    rowsHash: rowsHash(
      covered.map((row) => row.hash),
      hash,
    ),
    heads: headsOf(covered as never),
  };
  const number = (before?.number ?? 0) + 1;
  const unsigned = { ...time, number, previous, root: rootOf({ ...time, previous }, hash), at: 'now' };
  const signature = sign('sha256', Buffer.from(sealText(unsigned)), privateKey).toString('base64');
  return { ...unsigned, keyId: 'k', algorithm: 'ECDSA-P256-SHA256', signature };
};
const first = sealOf(rows.slice(0, 3), undefined, start + 3000);
const second = sealOf(rows.slice(3, 5), first, start + 5000);

const fileOf = (
  lines: readonly ExportedRow[],
  seals: readonly [Seal, Seal] = [first, second],
): ExportLine[] => {
  const isBefore = (row: ExportedRow, seal: Seal) => Date.parse(row.at) < seal.through;
  const early = lines.filter((row) => isBefore(row, seals[0]));
  const middle = lines.filter((row) => !isBefore(row, seals[0]) && isBefore(row, seals[1]));
  const late = lines.filter((row) => !isBefore(row, seals[1]));
  return [
    { type: 'key', keyId: 'k', algorithm: 'ECDSA-P256-SHA256', publicKey },
    ...early,
    { type: 'seal', ...seals[0] },
    ...middle,
    { type: 'seal', ...seals[1] },
    ...late,
    { type: 'end', rows: lines.length, seals: 2 },
  ];
};
const problemsOf = async (lines: ExportLine[]) =>
  (await verifyAudit(lines, { hash, timeOf: Date.parse, isSigned })).problems;
const without = (index: number) => rows.filter((_row, at) => at !== index);
const changed = (index: number, change: object) =>
  rows.map((row, at) => (at === index ? withHash({ ...row, ...change }) : row));

describe('an exported audit log', () => {
  test('is as it was recorded, and says how many rows no seal holds yet', async () => {
    expect(await verifyAudit(fileOf(rows), { hash, timeOf: Date.parse, isSigned })).toEqual({
      ...{ rows: 6, seals: 2, signed: 2, unsealed: 1, firstSeal: 1, problems: [] },
      lastSeal: { number: 2, root: second.root },
    });
  });

  test('shows a row that was changed, with its hash made again or not', async () => {
    const careless = rows.map((row, at) =>
      at === 1 ? { ...row, action: 'token.revoke' } : row,
    ) as ExportedRow[];
    expect((await problemsOf(fileOf(careless))).join()).toContain('was changed');
    expect((await problemsOf(fileOf(changed(1, { action: 'token.revoke' })))).join()).toContain('seal 1');
    expect((await problemsOf(fileOf(changed(2, { detail: {} })))).join()).toMatch(
      /seal 1.*does not follow decision/,
    );
  });

  test('shows a row that was dropped before a seal, put elsewhere, dated back or added', async () => {
    expect((await problemsOf(fileOf(without(1)))).join()).toContain('seal 1: holds 3 rows');
    const [one, two, ...others] = rows as [ExportedRow, ExportedRow];
    expect((await problemsOf(fileOf([two, one, ...others]))).join()).toContain('out of order');
    const at = start + 500;
    const back = withHash({ ...rows[5], id: `${at}#0000000f`, at: new Date(at).toISOString() } as JsonObject);
    expect((await problemsOf(fileOf([...rows.slice(0, 1), back, ...rows.slice(1, 5)]))).join()).toContain(
      'seal 1',
    );
    expect((await problemsOf(fileOf(changed(1, { at: rows[2]?.at })))).join()).toContain(
      'its time is not that of its id',
    );
  });

  test('shows a seal that was made again, without the key or with another one', async () => {
    const fewer = sealOf(rows.slice(1, 3), undefined, start + 3000);
    const forged = { ...fewer, signature: first.signature as string };
    expect((await problemsOf(fileOf(without(0), [forged, second]))).join()).toMatch(
      /signature is not the key's.*does not follow/,
    );
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pinned = other.publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const { problems, signed } = await verifyAudit(fileOf(rows), {
      hash,
      timeOf: Date.parse,
      isSigned,
      publicKey: pinned,
    });
    expect([signed, problems.length]).toEqual([0, 2]);
  });

  test('shows rows whose seal was dropped from the beginning, also with a new end', async () => {
    const [key, ...lines] = fileOf(changed(1, { action: 'token.revoke' }));
    const kept = lines.filter((line) => line.type !== 'seal' || line.number !== 1);
    const mended = [key as ExportLine, ...kept.slice(0, -1), { type: 'end' as const, rows: 6, seals: 1 }];
    expect((await problemsOf(mended)).join()).toBe(
      'seal 2: 3 rows are older than it, and no seal holds them',
    );
    const later = mended.filter(
      (line) => line.type !== 'row' || !rows.slice(0, 3).some(({ id }) => id === line.id),
    );
    const end = { type: 'end' as const, rows: 3, seals: 1 };
    expect(
      await verifyAudit([...later.slice(0, -1), end], { hash, timeOf: Date.parse, isSigned }),
    ).toMatchObject({
      ...{ firstSeal: 2, problems: [] },
    });
  });

  test('shows that its newest seals were cut off to whoever kept the root of one', async () => {
    const cut = fileOf(rows.slice(0, 3)).filter((line) => line.type !== 'seal' || line.number === 1);
    const file = cut.map((line) => (line.type === 'end' ? { ...line, seals: 1 } : line));
    const check = (keptRoot: string | undefined) =>
      verifyAudit(file, { hash, timeOf: Date.parse, isSigned, keptRoot });
    expect(await check(undefined)).toMatchObject({ lastSeal: { number: 1 }, problems: [] });
    expect((await check(first.root)).problems).toEqual([]);
    expect((await check(second.root)).problems).toEqual([
      `the file has no seal with the root ${second.root}`,
    ]);
  });

  test('shows an end that is missing; of rows after the last seal the newest can be dropped unseen', async () => {
    expect((await problemsOf(fileOf(rows).slice(0, -1))).join()).toContain('no end');
    expect(await problemsOf(fileOf(without(5)))).toEqual([]);
  });
});
