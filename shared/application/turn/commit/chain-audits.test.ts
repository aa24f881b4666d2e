/** Decisions of one session in the audit log: in their order by id as well, though functions read different clocks. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { AuditRow } from '../../../domain/audit.ts';
import { chainedTo } from './chain-audits.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const decision = (at: number): AuditRow => ({
  ...{
    at,
    actor: { kind: 'token', id: 't' },
    scope: 'admin',
    action: 'approval.decide',
    subject: 's',
    detail: {},
  },
});

test('a decision of a slower clock has a later time than the one that it follows', () => {
  const first = chainedTo(undefined, [decision(2000)], hash);
  const second = chainedTo(first.decided, [decision(1200)], hash);
  const third = chainedTo(second.decided, [decision(5000)], hash);
  expect([first, second, third].flatMap(({ audits }) => audits.map(({ at }) => at))).toEqual([
    2000, 2001, 5000,
  ]);
  expect(second.audits[0]?.chain).toEqual({ index: 2, previous: first.decided?.hash });
});

test('other rows keep their time, and the chain', () => {
  const { decided } = chainedTo(undefined, [decision(2000)], hash);
  const other = { ...decision(1200), action: 'grant.withdraw' } as AuditRow;
  expect(chainedTo(decided, [other], hash)).toEqual({ audits: [other], decided });
});
