/**
 * Commits a step of a turn for a handler that holds no lease: a decision, a cancellation. Only the turn's
 * version guards it, so a holder that moved the turn meanwhile wins and the caller reads again.
 */
import { eventFrame } from '../../contracts/frames.ts';
import type { AuditRow } from '../../domain/audit.ts';
import { type FeaturesSeen, isUnused } from '../../domain/features.ts';
import type { Session } from '../../domain/session.ts';
import { addUsage } from '../../domain/turn/calls.ts';
import type { TurnRecord, TurnStep } from '../../domain/turn/turn.ts';
import { waitingChange } from '../../domain/turn/waiting.ts';
import { occurrencesOf } from '../../domain/webhook/notice.ts';
import type { InboxMessage, SessionPatch, SessionStore } from '../../ports/session-store.ts';
import { type AudiencePorts, openAudience } from '../events/audience.ts';
import { noticesOf, sendNotices, type TellPorts } from '../events/tell-webhooks.ts';
import { noteStep } from './note-step.ts';

export type UnleasedStep = {
  readonly session: Session;
  readonly turn: TurnRecord;
  readonly seen?: FeaturesSeen | undefined;
  readonly step: TurnStep;
  readonly at: number;
  readonly completed?: InboxMessage | undefined;
  readonly patch?: SessionPatch;
  readonly audits?: readonly AuditRow[];
  /** The turn function has something to do after it. */
  readonly wakes: boolean;
};

export type CommitPorts = AudiencePorts & TellPorts & { readonly sessions: SessionStore };

/** The session as it stands after it; undefined when somebody else moved the turn: nothing was written. */
export const commitUnleased = async (
  ports: CommitPorts,
  { session, turn, seen, step, at, ...rest }: UnleasedStep,
): Promise<Session | undefined> => {
  const waiting = waitingChange(turn.state, step.state);
  const occurrences = occurrencesOf({ session, before: turn.state, ...step });
  const isWithout = (feature: 'webhooks' | 'approvers') => isUnused(seen, feature, ports.world.now());
  const notices = isWithout('webhooks') ? [] : await noticesOf(ports, occurrences, at);
  const result = await ports.sessions.commitTurn({
    session,
    version: turn.version,
    state: step.state,
    historyNext: turn.historyNext,
    historyFrom: turn.historyFrom,
    historyKept: turn.historyKept,
    parts: turn.parts,
    at,
    log: step.log,
    history: step.history,
    release: false,
    dueAt: at,
    waiting,
    notices,
    ...rest,
    patch: { ...patchOf(session, turn, step), ...rest.patch },
  });
  if (result.status !== 'committed' && result.status !== 'kept') return undefined;
  noteStep(ports.telemetry, { session, before: turn.state, step, at, completed: rest.completed });
  await sendNotices(ports, notices);
  const audience = openAudience(ports, session);
  await audience.tell(result.events.map((event) => eventFrame(session.id, event)));
  if (waiting !== undefined && !isWithout('approvers')) await audience.waitingChanged(session.project);
  return result.session;
};

/** What a turn that ends here leaves with its session, as one that its holder ends. */
const patchOf = (session: Session, { state }: TurnRecord, { log }: TurnStep): SessionPatch => {
  const completion = log.find((entry) => entry.type === 'completion');
  if (completion?.type !== 'completion') return {};
  const { usage, sessionCostUsd } = completion.data;
  return {
    usage: addUsage(session.usage, usage),
    costUsd: sessionCostUsd,
    ...('policy' in state ? { grants: state.policy.grants } : {}),
  };
};
