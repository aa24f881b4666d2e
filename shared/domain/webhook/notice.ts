/**
 * A notice: one event for webhooks, written in the same transaction as the event itself (WH1).
 *
 * It says where to look and never what is there: no argument of a call, no text of a message, no token (WH6).
 */
import { type Completion, completionOf, type LogEntry } from '../event-log.ts';
import type { CallId, ProjectId, SessionId, TurnId } from '../ids.ts';
import { defaultProject } from '../principal.ts';
import { type Run, runName } from '../schedule/run.ts';
import type { Schedule } from '../schedule/schedule.ts';
import type { Session } from '../session.ts';
import type { TurnState } from '../turn/turn.ts';
import { waitingCall } from '../turn/waiting-call.ts';
import { webhookTextCharactersMax } from './limits.ts';
import type { Subject, WebhookEvent, WebhookId } from './webhook.ts';

export type NoticeData = {
  /** Absent: a run of a schedule that found no session. */
  readonly sessionId?: SessionId;
  readonly title: string;
  readonly project: ProjectId;
  readonly turnId?: TurnId;
  readonly callId?: CallId;
  /** The name of the tool, or of the schedule. */
  readonly name?: string;
  readonly code?: string;
  readonly scheduleId?: string;
};

/** An event, before its webhooks are known. */
export type Occurrence = Subject & {
  /** The same for the same event, whichever function writes it. */
  readonly key: string;
  readonly data: NoticeData;
};

/** The body and the webhooks that receive it, by an id that is the header `webhook-id` of every attempt. */
export type Notice = {
  readonly id: string;
  readonly type: WebhookEvent;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly data: NoticeData;
  readonly webhooks: readonly WebhookId[];
};

type MovedTurn = {
  readonly session: Pick<Session, 'id' | 'owner' | 'project' | 'title'>;
  readonly before: TurnState;
  readonly state: TurnState;
  readonly log: readonly LogEntry[];
};

/** The events of a committed step: a call begins to wait, or the turn ended. */
export const occurrencesOf = ({ session, before, state, log }: MovedTurn): readonly Occurrence[] => {
  const waits = waitingIn(state);
  const asked = waits !== undefined && waits.callId !== waitingCall(before)?.callId;
  const completion = completionOf(log);
  return [
    ...(asked ? [approvalRequired(session, waits)] : []),
    ...(completion === undefined ? [] : [turnEnded(session, completion, log)]),
  ];
};

type Waiting = {
  readonly turnId: TurnId;
  readonly callId: CallId;
  readonly name: string;
  /** Of a tried call: one that is tried anew asks another question. */
  readonly trial?: SessionId;
};

const waitingIn = (state: TurnState): Waiting | undefined => {
  const call = waitingCall(state);
  if (call === undefined || state.kind !== 'deciding') return undefined;
  const { callId, name, trial } = call;
  return {
    turnId: state.turnId,
    callId,
    name,
    ...(trial?.state === 'tried' ? { trial: trial.session } : {}),
  };
};

const approvalRequired = (
  session: MovedTurn['session'],
  { turnId, callId, name, trial }: Waiting,
): Occurrence =>
  occurrence(session, {
    type: 'approval_required',
    key: trial === undefined ? `${turnId}:${callId}` : `${turnId}:${callId}:${trial}`,
    about: { turnId, callId, name: short(name) },
  });

/** A turn that a person cancelled has completed: nothing went wrong, and the person who cancelled it knows (WH7). */
const turnEnded = (
  session: MovedTurn['session'],
  { turnId, stopReason }: Completion,
  log: readonly LogEntry[],
): Occurrence => {
  if (stopReason !== 'error')
    return occurrence(session, { type: 'turn_completed', key: turnId, about: { turnId, code: stopReason } });
  const failure = log.findLast((entry) => entry.type === 'agent:error');
  const code = failure?.type === 'agent:error' ? failure.data.code : 'internal_error';
  return occurrence(session, { type: 'turn_failed', key: turnId, about: { turnId, code } });
};

type Said = {
  readonly type: WebhookEvent;
  readonly key: string;
  readonly about: Omit<NoticeData, 'sessionId' | 'title' | 'project'>;
};

/** An event of one session. */
export const occurrence = (
  { id, owner, project, title = '' }: MovedTurn['session'],
  { type, key, about }: Said,
): Occurrence => ({
  type,
  project,
  owner,
  key: `${type}:${id}:${key}`,
  data: { sessionId: id, title: short(title), project, ...about },
});

/** A failed run: an event of the session it ran in, if it found one. */
export const runFailed = (
  { name, creator, targets }: Pick<Schedule, 'name' | 'creator' | 'targets'>,
  { schedule, target, session, ...run }: Run,
): Occurrence => {
  const project = target?.project ?? defaultProject;
  return {
    type: 'schedule_failed',
    project,
    owner: creator.owner,
    isShared: targets.some((one) => one.project !== project),
    key: `schedule_failed:${schedule}:${runName(run)}`,
    data: {
      ...(session === undefined ? {} : { sessionId: session }),
      title: short(name),
      project,
      name: short(name),
      scheduleId: schedule,
    },
  };
};

/** Cut on whole characters. */
const short = (text: string): string =>
  text.slice(0, webhookTextCharactersMax).replace(/[\uD800-\uDBFF]$/, '');
