/** The audit of a program that was killed again and again: its logs, files and programs, compared with the work that it was given. */
import type { Logged } from './crash-talk.ts';
import { atLeast, exactly, type Finding } from './proof.ts';

export type TalkEvidence = {
  readonly accepted: readonly string[];
  readonly log: readonly Logged[];
  /** The log as it is read at the end, from the oldest event that is kept. */
  readonly kept: readonly Logged[];
  /** Lines in the workspace at the end. */
  readonly present: readonly string[];
};

export type Evidence = {
  readonly talks: readonly TalkEvidence[];
  /** Lines in the folder that no death takes back. */
  readonly written: readonly string[];
  /** States of the background programs of dead lives. */
  readonly programs: readonly string[];
};

type Call = { readonly mark: string; readonly ends: readonly Logged[] };

const isBegin = ({ type, data }: Logged): boolean => type === 'message' && data['role'] === 'user';
const isCompletion = ({ type }: Logged): boolean => type === 'completion';
const repeated = (lines: readonly string[]): number => lines.length - new Set(lines).size;
const countOf = <T>(items: readonly T[], isCounted: (item: T) => boolean): number =>
  items.filter(isCounted).length;

/** Completions of the turns that a message began. */
const completionsOf = (log: readonly Logged[], messageId: string): number => {
  const turns = log.filter((event) => isBegin(event) || isCompletion(event));
  return countOf(
    turns,
    (event) => isCompletion(event) && turns[turns.indexOf(event) - 1]?.data['messageId'] === messageId,
  );
};

const callsOf = (log: readonly Logged[]): readonly Call[] =>
  log
    .filter(({ type }) => type === 'tool:call')
    .map(({ data: { callId, args } }) => ({
      mark: /mark-\d+-[ab]/.exec(JSON.stringify(args))?.[0] ?? '',
      ends: log.filter(
        ({ type, data }) => ['tool:output', 'agent:error'].includes(type) && data['callId'] === callId,
      ),
    }));

const isUnknown = ({ ends: [end] }: Call): boolean => end?.data['code'] === 'tool_outcome_unknown';
const isOutput = ({ ends: [end] }: Call): boolean => end?.type === 'tool:output';

/** True of what says that changes of that time are not saved. */
const admitsLossOf = (at: string, said: { readonly savedAt?: unknown; readonly lost?: unknown }): boolean =>
  said.lost === true || said.savedAt === undefined || String(said.savedAt) < at;

const completionAfter = (log: readonly Logged[], { index }: Logged): Logged | undefined =>
  log.find((event) => event.index > index && isCompletion(event));

const saysLost = (completion: Logged | undefined): boolean =>
  (completion?.data['workspace'] as { readonly lost?: boolean } | undefined)?.lost === true;

/** A line that was written and is gone is reported: its call as unknown, or the end of its sandbox with an older save. */
const isReported = (log: readonly Logged[], call: Call): boolean => {
  const [end] = call.ends;
  if (end === undefined || isUnknown(call)) return end !== undefined;
  const isStop = ({ index, data }: Logged): boolean =>
    index > end.index && data['kind'] === 'sandbox_stopped' && admitsLossOf(end.at, data);
  return log.some(isStop) || saysLost(completionAfter(log, end));
};

/** True for a line whose turn told its result, lost it with its sandbox, and ended without a word of that. */
const isKeptQuiet = (log: readonly Logged[], { ends: [end] }: Call): boolean => {
  if (end?.type !== 'tool:output') return false;
  const completion = completionAfter(log, end);
  const isCut = log.some(
    ({ index, data }) =>
      index > end.index && index < (completion?.index ?? 0) && data['kind'] === 'sandbox_stopped',
  );
  return isCut && !saysLost(completion);
};

/** True when a completion called the line of a finished command saved before its sandbox ended. */
const isPromised = (log: readonly Logged[], { ends: [end] }: Call): boolean => {
  if (end?.type !== 'tool:output') return false;
  const next = log.find(
    (event) => event.index > end.index && (isCompletion(event) || event.data['kind'] === 'sandbox_stopped'),
  );
  if (next === undefined || !isCompletion(next)) return false;
  return !admitsLossOf(end.at, (next.data['workspace'] ?? {}) as { savedAt?: string });
};

/** Events that were read and are not in the log any more, or are others. */
const changedIn = ({ log, kept }: TalkEvidence): number => {
  const oldest = kept[0]?.index ?? 0;
  const byIndex = new Map(kept.map((event) => [event.index, JSON.stringify(event)]));
  return countOf(log, (event) => event.index >= oldest && byIndex.get(event.index) !== JSON.stringify(event));
};

export const audit = ({ talks, written, programs }: Evidence): readonly Finding[] => {
  const messages = talks.flatMap(({ accepted, log }) => accepted.map((id) => completionsOf(log, id)));
  const calls = talks.flatMap(({ log, present }) =>
    callsOf(log).map((call) => ({ ...call, log, isPresent: present.includes(call.mark) })),
  );
  const marks = calls.map(({ mark }) => mark);
  const lost = calls.filter(({ mark, isPresent }) => written.includes(mark) && !isPresent);
  return [
    atLeast('messages that were accepted', messages.length, 1),
    exactly(
      'messages without exactly one completion',
      countOf(messages, (count) => count !== 1),
      0,
    ),
    exactly(
      'events that were read and have changed',
      talks.reduce((sum, talk) => sum + changedIn(talk), 0),
      0,
    ),
    atLeast('calls', calls.length, 1),
    exactly(
      'calls without exactly one end',
      countOf(calls, ({ ends }) => ends.length !== 1),
      0,
    ),
    exactly('commands that ran twice', repeated(written), 0),
    exactly(
      'commands that ran and no call names',
      countOf(written, (line) => !marks.includes(line)),
      0,
    ),
    atLeast('calls that a death interrupted, reported as unknown', countOf(calls, isUnknown), 1),
    exactly(
      'commands that ran and are reported neither as run nor as unknown',
      countOf(calls, (call) => written.includes(call.mark) && !isUnknown(call) && !isOutput(call)),
      0,
    ),
    exactly(
      'results of commands that did not run',
      countOf(calls, (call) => isOutput(call) && !written.includes(call.mark)),
      0,
    ),
    atLeast('lines that a death took from a workspace', lost.length, 0),
    exactly(
      'lost lines that nothing reports',
      countOf(lost, (call) => !isReported(call.log, call)),
      0,
    ),
    exactly(
      'lost lines that a completion called saved',
      countOf(lost, (call) => isPromised(call.log, call)),
      0,
    ),
    exactly(
      'lost lines that the completion of their turn does not tell',
      countOf(lost, (call) => isKeptQuiet(call.log, call)),
      0,
    ),
    atLeast('background programs of dead lives', programs.length, 1),
    exactly(
      'of these reported as neither lost nor ended',
      countOf(programs, (state) => state === 'running'),
      0,
    ),
  ];
};
