/** Rows of the audit log for a call that a rule over effects decided: no person was asked, and the record says which rule it was (AP9). */
import type { AuditRow } from '../../../domain/audit.ts';
import type { Session } from '../../../domain/session.ts';
import type { TurnEvent, TurnStep } from '../../../domain/turn/turn.ts';

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
