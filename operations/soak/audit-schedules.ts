/** The check of schedules: one run for each minute while a schedule was enabled, and none twice. */
import type { AuditLine, ScheduleRecord, SoakRecord } from './record.ts';

const minuteMs = 60_000;

export const schedules = ({ schedules: all }: SoakRecord): AuditLine => ({
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
