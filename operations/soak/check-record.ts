/**
 * The audit of a soak: one line for each thing that must hold, decided from the record alone. Those of single sessions are in
 * check-sessions.ts; growth is counts of the host beside those before, and ratios of the last third of the minutes to the first.
 */
import { type Check, files, indices, messages, processes, sockets, tools } from './check-sessions.ts';
import type { AuditLine, Due, HostState, Sample, ScheduleRecord, SoakRecord } from './record.ts';

export const checkRecord = (record: SoakRecord): readonly AuditLine[] =>
  checks().map((check) => check(record));

const checks = (): readonly ((record: SoakRecord) => AuditLine)[] => [
  ({ failed, sessions }) => ({
    name: 'work ends as it should',
    checked: sessions.length + failed.length,
    problems: failed.map(({ work, error }) => `${work}: ${error}`),
  }),
  overSessions('each message is answered once', messages, ({ sent }) => sent.length),
  overSessions('events have no gap and no repetition', indices, ({ events }) => events.length),
  overSessions('people who come back see every event', sockets, ({ frames = [] }) => frames.length),
  overSessions('each tool that ran left one mark', tools, ({ sharedMarks }) => sharedMarks.length),
  overSessions(
    'files are there',
    files,
    ({ workspaceMarks, files: seen }) => workspaceMarks.length + seen.length,
  ),
  overSessions('output of processes is whole', processes, ({ processes: seen }) => seen.length),
  deliveries,
  schedules,
  ({ left, items }) => ({
    name: 'nothing is left in the table',
    checked: items,
    problems: left.map(({ kind, key }) => `${kind}: ${key}`),
  }),
  host,
  memory,
  descriptors,
  latency,
];

const overSessions =
  (name: string, check: Check, countOf: (one: SoakRecord['sessions'][number]) => number) =>
  ({ sessions }: SoakRecord): AuditLine => ({
    name,
    checked: sessions.reduce((sum, session) => sum + countOf(session), 0),
    problems: sessions.flatMap((session) =>
      check(session).map((problem) => `${session.work} ${session.id}: ${problem}`),
    ),
  });

/** The receiver of webhooks accepted each event under one id, at least once, and heard of nothing else. */
const deliveries = ({ sessions, delivered }: SoakRecord): AuditLine => {
  const due = sessions.flatMap(dueOf);
  const known = new Set(sessions.map(({ id }) => id));
  const heard = Map.groupBy(delivered, nameOf);
  const idsOf = (one: Due): ReadonlySet<string> => new Set(heard.get(nameOf(one))?.map(({ id }) => id));
  const names = new Set(due.map(nameOf));
  return {
    name: 'each event reaches the receiver',
    checked: due.length,
    problems: [
      ...due.filter((one) => idsOf(one).size === 0).map((one) => `${nameOf(one)} was not delivered`),
      ...due.filter((one) => idsOf(one).size > 1).map((one) => `${nameOf(one)} has several ids`),
      ...delivered
        .filter((one) => known.has(one.sessionId) && !names.has(nameOf(one)))
        .map((one) => `${nameOf(one)} was delivered and never happened`),
    ],
  };
};

const nameOf = ({ type, sessionId, turnId }: Due): string => `${type} ${sessionId} ${turnId}`;

const dueOf = ({ id, events }: SoakRecord['sessions'][number]): readonly Due[] =>
  events.flatMap(({ type, data }) => {
    if (type !== 'completion') return [];
    const isFailed = data['stopReason'] === 'error';
    return [
      { type: isFailed ? 'turn_failed' : 'turn_completed', sessionId: id, turnId: String(data['turnId']) },
    ];
  });

const minuteMs = 60_000;

/** One run for each minute while a schedule was enabled, and none twice. */
const schedules = ({ schedules: all }: SoakRecord): AuditLine => ({
  name: 'a schedule runs once at each due time',
  checked: all.reduce((sum, { runs }) => sum + runs.length, 0),
  problems: all.flatMap((one) => problemsOf(one).map((problem) => `schedule ${one.id}: ${problem}`)),
});

const problemsOf = ({ from, to, runs }: ScheduleRecord): readonly string[] => {
  const timed = runs.filter(({ trigger }) => trigger === 'schedule').map(({ runAt }) => Date.parse(runAt));
  const open = runs.filter(({ status }) => status === 'running' || status === 'queued');
  const iso = (at: number): string => new Date(at).toISOString();
  return [
    ...[...new Set(timed.filter((at, place) => timed.indexOf(at) !== place))].map(
      (at) => `ran twice for ${iso(at)}`,
    ),
    ...dueTimes(from, to)
      .filter((at) => !timed.includes(at))
      .map((at) => `did not run for ${iso(at)}`),
    ...timed.filter((at) => at < from || at > to || at % minuteMs !== 0).map((at) => `ran for ${iso(at)}`),
    ...open.map(({ runAt, status }) => `the run of ${runAt} is ${status}`),
  ];
};

/** Every whole minute after it was made, up to its end. */
const dueTimes = (from: number, to: number): readonly number[] => {
  const first = Math.floor(from / minuteMs) + 1;
  const count = Math.max(0, Math.floor(to / minuteMs) - first + 1);
  return Array.from({ length: count }, (_, place) => (first + place) * minuteMs);
};

/** In between, the platform is killed and starts again twice: the values that are compared have warmed up. */
const secondMinute = 1;
/** The ratio of the thirds where something grows steadily, and has half as much again in the last minute as in the second. */
const halfMore = 1.3;
/** The same for four times as much: faults come when they come, and latency is shaken by them. */
const fourTimes = 2.3;

const host = ({ host: { before, after } }: SoakRecord): AuditLine => {
  const names: readonly (keyof HostState)[] = ['processes', 'ports', 'folders'];
  return {
    name: 'nothing is left on the host',
    checked: names.length,
    problems: names
      .filter((name) => after[name] > before[name])
      .map((name) => `${after[name]} ${name}, ${before[name]} at the start`),
  };
};

const memory = ({ samples }: SoakRecord): AuditLine =>
  growth('memory stays', samples, { of: ({ memoryMb }) => memoryMb, ratioMax: halfMore });

/** Idle functions keep some for their next request: a platform at rest has not as few as at its start. */
const descriptors = ({ samples }: SoakRecord): AuditLine =>
  growth('open files stay', samples, { of: ({ descriptors: open }) => open, ratioMax: halfMore });

const latency = ({ samples }: SoakRecord): AuditLine =>
  growth('latency stays', samples, { of: ({ latencyMs }) => latencyMs, ratioMax: fourTimes });

type Wanted = { readonly of: (sample: Sample) => number; readonly ratioMax: number };

/**
 * Of the last third to the first, from the second minute on; nothing is compared before there is a third minute. A single minute has
 * as many sandboxes and faults as happen to come: two of them may differ by half in a run that grows by nothing.
 */
const ratioOf = (samples: readonly Sample[], of: Wanted['of']): number | undefined => {
  const warm = samples.filter(({ minute }) => minute >= secondMinute);
  if (!warm.some(({ minute }) => minute > secondMinute)) return undefined;
  const third = Math.ceil(warm.length / 3);
  return median(warm.slice(-third).map(of)) / median(warm.slice(0, third).map(of));
};

const growth = (name: string, samples: readonly Sample[], { of, ratioMax }: Wanted): AuditLine => {
  const ratio = ratioOf(samples, of);
  if (ratio === undefined) return { name: `${name} (too short to tell)`, checked: 0, problems: [] };
  const shown = `${ratio.toFixed(2)} times that of the first`;
  return {
    name,
    checked: samples.length,
    problems:
      ratio <= ratioMax ? [] : [`the last third of the run has ${shown}, at most ${ratioMax} are allowed`],
  };
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
