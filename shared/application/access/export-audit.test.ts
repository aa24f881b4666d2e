import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { AuditRow } from '#shared/domain/audit.ts';
import type { Seal } from '#shared/domain/audit-seal.ts';
import { type ExportLine, type Verification, verifyAudit } from '#shared/domain/verify-audit.ts';
import { exportAudit } from './export-audit.ts';
import { sealAudit } from './seal-audit.ts';

const minuteMs = 60_000;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A deployment whose log and seals are lists. */
const deployment = () => {
  let now = 0;
  let rows: AuditRow[] = [];
  const seals: Seal[] = [];
  let meanwhile = async (): Promise<void> => {};
  const idOf = (row: AuditRow) => `${String(row.at).padStart(13, '0')}#${row.subject}`;
  const ports = {
    auditLog: {
      read: async ({ from, through, itemsMax }: { from: number; through: number; itemsMax: number }) => {
        const read = rows.filter(({ at }) => at >= from && at < through);
        if (itemsMax > 1) {
          const happens = meanwhile;
          meanwhile = async () => {};
          await happens();
        }
        return { rows: read.map((row) => ({ id: idOf(row), row })) };
      },
    },
    auditSeals: {
      last: async () => seals.at(-1),
      read: async (number: number) => seals[number - 1],
      write: async (seal: Seal) => {
        seals.push(seal);
      },
    },
    sealKey: { publicKey: async () => undefined, sign: async () => undefined },
    telemetry: { info: () => {} },
    world: { now: () => now, sha256 },
  };
  const add = (subject: string, atMs: number): void => {
    const actor = { kind: 'token' as const, id: 'a' };
    rows = [...rows, { at: atMs, actor, scope: 'admin', action: 'token.create', subject, detail: {} }];
    now = atMs + 1;
  };
  const seal = async (atMs: number): Promise<void> => {
    now = atMs;
    await sealAudit(ports as never);
  };
  const forgetUntil = (atMs: number): void => {
    rows = rows.filter(({ at }) => at >= atMs);
  };
  const dropFrom = (atMs: number): void => {
    rows = rows.filter(({ at }) => at < atMs);
  };
  const forgetOne = (subject: string): void => {
    rows = rows.filter((row) => row.subject !== subject);
  };
  const setNow = (atMs: number): void => {
    now = atMs;
  };
  const verified = async (): Promise<Verification> => {
    const lines: ExportLine[] = [];
    for await (const line of exportAudit(ports as never)) lines.push(JSON.parse(line) as ExportLine);
    return verifyAudit(lines, { hash: sha256, timeOf: Date.parse, isSigned: () => true });
  };
  /** It happens once, behind the next read of a page. */
  const during = (happens: () => Promise<void>): void => {
    meanwhile = happens;
  };
  return { add, seal, forgetUntil, forgetOne, setNow, dropFrom, verified, during };
};

const sealedOnce = async () => {
  const made = deployment();
  made.add('a', minuteMs);
  made.add('b', 2 * minuteMs);
  await made.seal(4 * minuteMs);
  return made;
};

test('rows that follow the only seal follow it once', async () => {
  const { add, verified } = await sealedOnce();
  for (const [index, subject] of ['c', 'd', 'e'].entries()) add(subject, (5 + index) * minuteMs);
  expect(await verified()).toMatchObject({
    ...{ rows: 5, seals: 1, signed: 0, unsealed: 3, firstSeal: 1, problems: [] },
  });
});

test('an export begins with the first seal whose rows are all retained, and has no row before it', async () => {
  const { add, seal, forgetUntil, setNow, verified } = await sealedOnce();
  const yearMs = 365 * 86_400_000;
  add('c', 5 * minuteMs);
  add('d', 6 * minuteMs);
  await seal(8 * minuteMs);
  add('e', 9 * minuteMs);
  await seal(11 * minuteMs);
  add('f', 12 * minuteMs);
  forgetUntil(6 * minuteMs);
  setNow(yearMs + 5.5 * minuteMs);
  expect(await verified()).toMatchObject({
    ...{ rows: 2, seals: 1, signed: 0, unsealed: 1, firstSeal: 3, problems: [] },
  });
  forgetUntil(12 * minuteMs);
  setNow(yearMs + 11.5 * minuteMs);
  expect(await verified()).toEqual({ ...{ rows: 1, seals: 0, signed: 0, unsealed: 1, problems: [] } });
});

test('rows over a year old are deleted in no order, and an export has none of them', async () => {
  const dayMs = 86_400_000;
  const made = await sealedOnce();
  made.add('c', 5 * minuteMs);
  made.add('d', 6 * minuteMs);
  await made.seal(8 * minuteMs);
  made.add('e', 30 * dayMs);
  await made.seal(31 * dayMs);
  made.add('f', 32 * dayMs);
  await made.seal(33 * dayMs);
  made.setNow(367 * dayMs);
  made.forgetOne('c');
  expect(await made.verified()).toMatchObject({ rows: 1, seals: 1, firstSeal: 4, problems: [] });
});

test('the first seal is left out once it has rows that are over a year old', async () => {
  const made = await sealedOnce();
  made.add('c', 5 * minuteMs);
  await made.seal(8 * minuteMs);
  // Between its two rows.
  made.setNow(365 * 86_400_000 + 1.5 * minuteMs);
  expect(await made.verified()).toMatchObject({ rows: 1, seals: 1, firstSeal: 2, problems: [] });
});

test('the first seal has all of its rows where the year begins between the last row before it and its own time', async () => {
  const made = await sealedOnce();
  made.add('c', 9 * minuteMs);
  await made.seal(11 * minuteMs);
  made.setNow(365 * 86_400_000 + 2.5 * minuteMs);
  expect(await made.verified()).toMatchObject({ rows: 1, seals: 1, firstSeal: 2, unsealed: 0, problems: [] });
});

test('an export has no seal that is made while it is written', async () => {
  const { add, seal, verified, during } = await sealedOnce();
  add('c', 5 * minuteMs);
  during(async () => {
    // Its time is before the export's own, and its write is slower than the export's read.
    add('late', 5 * minuteMs);
    add('d', 7 * minuteMs);
    await seal(5 * minuteMs + 1 + minuteMs);
    await seal(9 * minuteMs);
  });
  expect(await verified()).toMatchObject({ rows: 3, seals: 1, unsealed: 1, problems: [] });
  expect(await verified()).toMatchObject({ rows: 5, seals: 3, unsealed: 0, problems: [] });
});

test('an export has each seal whose rows are missing', async () => {
  const { add, seal, verified, dropFrom } = await sealedOnce();
  add('c', 5 * minuteMs);
  await seal(7 * minuteMs);
  add('d', 8 * minuteMs);
  await seal(10 * minuteMs);
  dropFrom(5 * minuteMs);
  expect(await verified()).toMatchObject({ rows: 2, seals: 3, problems: [{}, {}] });
});
