/**
 * A run: one target of one schedule at one moment, from its claim to its row in the history; its outcome is read from the
 * log of its session.
 *
 * Every change of state goes through `move`; a run that has ended stays as it ended (J5).
 */
import type { LogEvent, StopReason } from '../event-log.ts';
import type { MessageId, SessionId } from '../ids.ts';
import {
  queueMsMax,
  runLookMsMax,
  runLookMsMin,
  runOutputCharactersMax,
  schedulePrecisionMs,
  startMsMax,
} from './limits.ts';
import type { ScheduleId, ScheduleTarget } from './schedule.ts';

/** `claimed`: ready to start; `queued`: it waits for an earlier one; `running`: its turn has not ended. */
export const openRunStates = ['claimed', 'queued', 'running'] as const;
export const endedRunStates = ['success', 'failed', 'skipped'] as const;
type OpenRunState = (typeof openRunStates)[number];
export type RunState = OpenRunState | (typeof endedRunStates)[number];

/** A deferred run is checked again; a refused one could not be started; a lost one's outcome cannot be known. */
export type RunEvent = 'started' | 'deferred' | 'skipped' | 'refused' | 'answered' | 'broke' | 'lost';

export type Run = {
  readonly schedule: ScheduleId;
  readonly runAt: number;
  /** Distinguishes runs of one moment: the target's index, and a name of its own for a run started by hand. */
  readonly part: string;
  /** Absent: the schedule itself was stopped before a target was reached. */
  readonly target?: ScheduleTarget;
  readonly isManual: boolean;
  readonly isLate: boolean;
  readonly state: RunState;
  readonly claimedAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** The session it speaks in, chosen before it speaks: a run that is taken over speaks in no other (J6). */
  readonly session?: SessionId;
  readonly message?: MessageId;
  /** The session's log up to here has nothing about this run. */
  readonly since?: number;
  /** Its turn has begun: the next completion in the log is its own. */
  readonly hasBegun?: true;
  /** No later run continues its session: it ends with the run. */
  readonly isAlone?: true;
  readonly output?: string;
  /** The reason for which it failed or was skipped. */
  readonly problem?: string;
  /** The time of its next check, while it has not ended. */
  readonly dueAt?: number;
  readonly version: number;
};

/** As it is shown: `needsApproval` while a person has to decide before it goes on. */
export type ShownRun = Run & { readonly needsApproval?: true };

const moves: Readonly<Record<RunState, Readonly<Partial<Record<RunEvent, RunState>>>>> = {
  claimed: { started: 'running', deferred: 'queued', skipped: 'skipped', refused: 'failed' },
  queued: { started: 'running', deferred: 'queued', skipped: 'skipped', refused: 'failed' },
  running: { answered: 'success', broke: 'failed', lost: 'failed' },
  success: {},
  failed: {},
  skipped: {},
};

/** The state after an event; undefined when it does not apply. */
export const move = (state: RunState, event: RunEvent): RunState | undefined => moves[state][event];

export const isOpen = (state: RunState): state is OpenRunState =>
  openRunStates.some((open) => open === state);

const epochDigits = 13;

/** Unique in its schedule; names are in the order of runs. */
export const runName = ({ runAt, part }: Pick<Run, 'runAt' | 'part'>): string =>
  `${String(runAt).padStart(epochDigits, '0')}#${part}`;

export const isLateStart = (runAt: number, at: number): boolean => at - runAt > schedulePrecisionMs;

/** A run that has waited longer is given up. */
export const isOverdue = ({ state, claimedAt }: Run, at: number): boolean =>
  at - claimedAt > (state === 'queued' ? queueMsMax : startMsMax);

/** The run event that follows from a turn's end. */
export const eventOfStop: Readonly<Record<StopReason, Extract<RunEvent, 'answered' | 'broke'>>> = {
  end_turn: 'answered',
  max_tokens: 'answered',
  cancelled: 'broke',
  error: 'broke',
  budget_exceeded: 'broke',
  steps_exceeded: 'broke',
  refused: 'broke',
};

/** The longer it runs, the less often it is checked. */
export const nextLook = ({ startedAt, claimedAt }: Run, at: number): number =>
  at + Math.min(runLookMsMax, Math.max(runLookMsMin, Math.round((at - (startedAt ?? claimedAt)) / 4)));

const cutMark = ' … (truncated)';

/** The part of an answer that the history stores: whole characters, with a mark where it was cut. */
export const cutOutput = (text: string): string => {
  if (text.length <= runOutputCharactersMax) return text;
  const head = text.slice(0, runOutputCharactersMax - cutMark.length);
  return `${head.replace(/[\uD800-\uDBFF]$/, '')}${cutMark}`;
};

/**
 * The outcome of a run's turn: the first completion after its own message. A log is a ring: it may have dropped the message,
 * but a completion is a turn's last event.
 */
export type Outcome =
  | { readonly kind: 'open'; readonly hasBegun: boolean; readonly since: number }
  | {
      readonly kind: 'ended';
      readonly event: Extract<RunEvent, 'answered' | 'broke'>;
      readonly startedAt?: number;
      readonly endedAt: number;
      readonly output: string;
      readonly problem?: string;
      /** True when the session has received no message since. */
      readonly isLast: boolean;
    };

type Question = { readonly message: MessageId; readonly hasBegun: boolean; readonly since: number };

/** `events` are the log after `since`, oldest first. */
export const readOutcome = (events: readonly LogEvent[], { message, hasBegun, since }: Question): Outcome => {
  const begins = hasBegun
    ? -1
    : events.findIndex((event) => isUserMessage(event) && event.data.messageId === message);
  if (!hasBegun && begins < 0) return { kind: 'open', hasBegun: false, since };
  const own = events.slice(begins + 1);
  const end = own.findIndex(({ type }) => type === 'completion');
  const completion = own[end];
  if (completion?.type !== 'completion')
    return { kind: 'open', hasBegun: true, since: events[begins]?.seq ?? since };
  const { stopReason, text } = completion.data;
  const event = eventOfStop[stopReason];
  const startedAt = events[begins]?.at;
  return {
    kind: 'ended',
    event,
    ...(startedAt === undefined ? {} : { startedAt }),
    endedAt: completion.at,
    output: cutOutput(text),
    ...(event === 'answered' ? {} : { problem: problemOf(own.slice(0, end)) ?? stopReason }),
    isLast: !own.slice(end).some(isUserMessage),
  };
};

const isUserMessage = (event: LogEvent): event is Extract<LogEvent, { type: 'message' }> =>
  event.type === 'message' && event.data.role === 'user';

/** The last error of the turn itself, not of one of its calls. */
const problemOf = (events: readonly LogEvent[]): string | undefined => {
  const errors = events.flatMap((event) =>
    event.type === 'agent:error' && event.data.callId === undefined ? [event.data] : [],
  );
  const last = errors.at(-1);
  return last === undefined ? undefined : cutOutput(`${last.code}: ${last.message}`);
};
