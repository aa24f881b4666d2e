import { expect, test } from 'vitest';
import type { LogEntry } from '../../../domain/event-log.ts';
import type { CallId, ProjectId, SessionId, TurnId } from '../../../domain/ids.ts';
import type { TurnEvent } from '../../../domain/turn/turn.ts';
import { ruleAuditRows } from './chain-audits.ts';

const [callId, turnId] = ['c' as CallId, 't' as TurnId];
const session = { id: 's' as SessionId, project: 'p' as ProjectId };
const by = { kind: 'policy', id: 'effect rule 2' } as const;
const decided: LogEntry = {
  type: 'tool:decided',
  data: { turnId, callId, name: 'execute_command', digest: 'd', approved: true, by, reason: 'rule 2' },
};
const tried = { type: 'trial-ended', at: 7, callId, trial: { state: 'tried', effectDigest: 'e' } };
const untried = { ...tried, trial: { state: 'untried', reason: 'no slot' } };
const rowsOf = (event: object, log: readonly LogEntry[]) =>
  ruleAuditRows(session, event as TurnEvent, { log });

test('the decision of a rule has a row with the rule, the call and the digest of what it did', () => {
  expect(rowsOf(tried, [decided])).toEqual([
    {
      ...{ at: 7, actor: by, scope: 'project:p', action: 'approval.decide', subject: 's', project: 'p' },
      detail: { sessionId: 's', ...decided.data, effectDigest: 'e' },
    },
  ]);
});

test.each([
  ['a trial that a person decides', tried, []],
  ['a call that was not tried', untried, [decided]],
  [
    'another call of the same step',
    tried,
    [{ ...decided, data: { ...decided.data, callId: 'x' } } as LogEntry],
  ],
  ['another event', { type: 'cancelled', at: 7 }, [decided]],
])('%s has none', (_, event, log) => {
  expect(rowsOf(event, log)).toEqual([]);
});
