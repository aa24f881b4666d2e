import { expect, test } from 'vitest';
import { actionLabel, actorLabel, detailsOf, tokenLabel } from './audit-page.vue';
import { auditFileName } from './download-audit.ts';

const row = {
  at: '2026-11-21T00:00:00.000Z',
  actor: '0123456789abcdef',
  actorKind: 'token',
  scope: 'admin',
  action: 'token.create',
  subject: 's',
  detail: {},
};

test.each([
  [{}, 'token 01234567', undefined],
  [{ actorName: 'ci' }, 'ci', 'token 01234567'],
  [{ actorKind: 'person', actorName: 'Ada' }, 'Ada', undefined],
  [{ actorKind: 'policy', actor: 'effect rule 2' }, 'effect rule 2', undefined],
  [{ actor: 'janitor' }, 'the platform', undefined],
])('the label of actor %j', (fields, words, token) => {
  expect([actorLabel({ ...row, ...fields }), tokenLabel({ ...row, ...fields })]).toEqual([words, token]);
});

test.each([
  ['approval.decide', { approved: true, name: 'execute_command' }, 'Approved execute_command'],
  ['approval.decide', { approved: false, name: 'x' }, 'Rejected x'],
  ['token.create', {}, 'Token created'],
  ['mcp_server.reload', {}, 'Mcp server reload'],
  ['mcp.change', {}, 'MCP server changed'],
  ['schedule.trigger', {}, 'Schedule triggered'],
  ['session.approvals_auto', {}, 'Session approvals set to auto'],
  ['person.sign_in', {}, 'Signed in'],
])('the label of %s with %j', (action, detail, words) => {
  expect(actionLabel({ ...row, action, detail })).toBe(words);
});

test('details are short, and hide no characters', () => {
  const detail = {
    by: { kind: 'token' },
    name: 'a\u202Eb',
    sessionId: '11111111-1111-4111-8111-111111111111',
  };
  expect(detailsOf({ ...row, detail })).toEqual([
    ['session', '11111111'],
    ['by', 'kind token'],
    ['name', 'a⟦U+202E⟧b'],
  ]);
});

test('details are in words', () => {
  const detail = {
    events: ['turn_failed', 'sandbox_failed'],
    isEnabled: true,
    maxCostUsd: 2.5,
    scope: 'project:11111111-1111-4111-8111-111111111111',
  };
  expect(detailsOf({ ...row, detail })).toEqual([
    ['enabled', 'yes'],
    ['events', 'turn_failed, sandbox_failed'],
    ['max cost usd', '2.5'],
    ['scope', 'project:11111111'],
  ]);
});

test('a decision is not described twice', () => {
  const detail = { name: 'x', approved: true, by: { kind: 'token' }, digest: 'd', sessionId: 's' };
  expect(detailsOf({ ...row, action: 'approval.decide', detail })).toEqual([
    ['session', 's'],
    ['digest', 'd'],
  ]);
});

test('an export is named after its day', () => {
  expect(auditFileName(new Date('2026-03-09T23:59:59.000Z'))).toBe('audit-2026-03-09.jsonl');
});
