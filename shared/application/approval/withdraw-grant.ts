/**
 * Withdraws a person's grant for a session, at once: in the running turn, in the session, and in its descendants,
 * which had it from their parent.
 */

import type { AuditRow } from '../../domain/audit.ts';
import type { Principal } from '../../domain/principal.ts';
import { isEnded } from '../../domain/session.ts';
import { grantsInForce } from '../../domain/turn/approval-policy.ts';
import type { Grant } from '../../domain/turn/grant.ts';
import type { TurnLimits } from '../../domain/turn/turn.ts';
import { AppError } from '../../errors.ts';
import { auditRow, recordAudit } from '../access/audit.ts';
import type { AuditDeps, MessageDeps } from '../deps.ts';
import { endedSession } from '../sandbox/ended-session.ts';
import { descendantsOf } from '../session/show-tree.ts';
import { commitStep } from '../turn/commit/apply-event.ts';
import { commitWithoutLease, type FoundTurn } from '../turn/commit/commit-without-lease.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';

export type Withdrawal = {
  readonly grantId: string;
  readonly principal: Principal;
  readonly limits: TurnLimits;
};

/**
 * Passes over the descendants: a pass that finds the grant is followed by another, for children that were made
 * concurrently.
 */
const passesMax = 5;

/**
 * Throws `invalid_session_state` when the session has ended, and `not_found` when neither it nor a descendant has such a
 * grant: an interrupted withdrawal can be repeated.
 */
export const withdrawGrant = async (
  ports: MessageDeps & AuditDeps,
  found: FoundTurn,
  withdrawal: Withdrawal,
): Promise<Grant> => {
  if (isEnded(found.session.status)) throw endedSession(found.session);
  let grant = await withdrawFrom(ports, found, withdrawal);
  for (let pass = 0; pass < passesMax; pass += 1) {
    const below = await withdrawBelow(ports, found, withdrawal);
    grant ??= below;
    if (below === undefined) break;
  }
  if (grant !== undefined) return grant;
  throw new AppError('not_found', 'the session has no such grant', {
    suggestions: ['List the grants of the session.'],
  });
};

/** The grant, if a descendant had it. */
const withdrawBelow = async (
  ports: MessageDeps & AuditDeps,
  { session: { id } }: FoundTurn,
  withdrawal: Withdrawal,
): Promise<Grant | undefined> => {
  const session = await ports.sessions.get(id);
  if (session === undefined) return undefined;
  let grant: Grant | undefined;
  for (const child of await descendantsOf(ports.sessions, session)) {
    const found = isEnded(child.status) ? undefined : await ports.turns.getWithTurn(child.id);
    const withdrawn = found && (await withdrawFrom(ports, found, withdrawal));
    grant ??= withdrawn;
  }
  return grant;
};

const withdrawFrom = (
  ports: MessageDeps & AuditDeps,
  found: FoundTurn,
  withdrawal: Withdrawal,
): Promise<Grant | undefined> =>
  untilWon(async (race) => {
    const current = race === 0 ? found : await ports.turns.getWithTurn(found.session.id);
    if (current === undefined) return undefined;
    const { session, turn } = current;
    const grant = grantsInForce(session, turn).find(({ id }) => id === withdrawal.grantId);
    // Nothing is written to a session that has ended.
    if (grant === undefined || isEnded(session.status)) return undefined;
    const row = rowOf(ports, current, { withdrawal, grant });
    const isDone =
      'policy' in turn.state
        ? await fromTurn(ports, current, { withdrawal, row })
        : await fromSession(ports, current, { withdrawal, row });
    if (!isDone) return raceLost;
    recordAudit(ports.telemetry, row);
    return grant;
  }, changesTooOften('the turn'));

type Prepared = { readonly withdrawal: Withdrawal; readonly row: AuditRow };

const rowOf = (
  { world }: MessageDeps & AuditDeps,
  { session }: FoundTurn,
  { withdrawal: { principal }, grant }: { readonly withdrawal: Withdrawal; readonly grant: Grant },
): AuditRow =>
  auditRow(principal, world.now(), {
    action: 'grant.withdraw',
    subject: session.id,
    project: session.project,
    detail: {
      sessionId: session.id,
      grant: grant.id,
      tool: grant.tool,
      ...(grant.prefix === undefined ? {} : { prefix: grant.prefix }),
    },
  });

const fromTurn = async (
  ports: MessageDeps & AuditDeps,
  found: FoundTurn,
  { withdrawal: { grantId, limits }, row }: Prepared,
): Promise<boolean> => {
  const applied = await commitWithoutLease(ports, found, {
    eventFor: (_, at) => ({ type: 'grant-withdrawn', at, grantId }),
    auditsOf: () => [row],
    limits,
  });
  return applied === 'applied';
};

const fromSession = async (
  ports: MessageDeps & AuditDeps,
  { session, turn }: FoundTurn,
  { withdrawal: { grantId }, row }: Prepared,
): Promise<boolean> => {
  const data = { kind: 'grant_withdrawn', grantId };
  const step = { state: turn.state, log: [{ type: 'system' as const, data }], history: [] };
  const patch = { grants: session.grants.filter(({ id }) => id !== grantId) };
  const commit = { session, turn, step, at: row.at, patch, wakes: false, audits: [row] };
  return (await commitStep(ports, commit)) !== undefined;
};
