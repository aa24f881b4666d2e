/**
 * Description of a cron expression, its next runs, and their times in UTC and the local zone. Pure.
 *
 * It uses the server's own parser, so that the description is what the server does.
 */
import { type Cron, decodeCron, nextRun } from '#shared/domain/schedule/cron.ts';

export type CronReading =
  | { readonly ok: true; readonly cron: Cron; readonly description: string }
  | { readonly ok: false; readonly problem: string };

export const readCron = (expression: string): CronReading => {
  const decoded = decodeCron(expression.trim());
  if (!decoded.ok) return decoded;
  return { ok: true, cron: decoded.cron, description: describeCron(decoded.cron) };
};

/** The next runs in epoch milliseconds, up to a maximum. */
export const nextRuns = (cron: Cron, afterMs: number, runsMax: number): readonly number[] => {
  const runs: number[] = [];
  for (let at: number | undefined = nextRun(cron, afterMs); at !== undefined && runs.length < runsMax; ) {
    runs.push(at);
    at = nextRun(cron, at);
  }
  return runs;
};

const weekdayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const monthNames = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const timesShownMax = 6;

const describeCron = (cron: Cron): string => {
  const days = dayLabel(cron);
  const months =
    cron.months.length === 12 ? '' : `in ${listed(cron.months.map((month) => monthNames[month - 1] ?? ''))}`;
  const time = timeLabel(cron);
  const everyDay = days === '' && !isWithinHour(cron) ? 'every day' : days;
  const sentence = [time, everyDay, months].filter((part) => part !== '').join(', ');
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
};

/** Runs in every hour, so that the description needs no day. */
const isWithinHour = ({ hours }: Cron): boolean => hours.length === 24;

const timeLabel = ({ minutes, hours }: Cron): string => {
  const [minute = 0] = minutes;
  const times = hours.flatMap((hour) => minutes.map((at) => `${twoDigits(hour)}:${twoDigits(at)}`));
  if (times.length <= timesShownMax) return `at ${listed(times)} UTC`;
  const within = hourLabel(hours);
  const minuteStep = stepOf(minutes, 60);
  if (minuteStep !== undefined)
    return joined(minuteStep === 1 ? 'every minute' : `every ${minuteStep} minutes`, within);
  if (minutes.length > 1)
    return joined(`at minutes ${listed(minutes)}`, within === '' ? 'of every hour' : within);
  const hourStep = stepOf(hours, 24);
  const minuteLabel = minute === 0 ? 'on the hour' : `at minute ${minute}`;
  if (hourStep === 1) return `every hour, ${minuteLabel}`;
  if (hourStep !== undefined) return `every ${hourStep} hours from midnight UTC, ${minuteLabel}`;
  return joined(`hourly, ${minuteLabel}`, within);
};

const hourLabel = (hours: readonly number[]): string => {
  if (hours.length === 24) return '';
  const [first = 0] = hours;
  const last = hours.at(-1) ?? 0;
  if (hours.length > 2 && last - first === hours.length - 1)
    return `from ${twoDigits(first)}:00 to ${twoDigits(last)}:59 UTC`;
  return `in the ${hours.length === 1 ? 'hour' : 'hours'} from ${listed(hours.map((hour) => `${twoDigits(hour)}:00`))} UTC`;
};

const dayLabel = ({ days, weekdays, restricts }: Cron): string => {
  const ofMonth =
    days.length === 31 ? '' : `on ${days.length === 1 ? 'day' : 'days'} ${listed(days)} of the month`;
  const ofWeek = weekdays.length === 7 ? '' : weekdayLabel(weekdays);
  if (ofMonth === '' || ofWeek === '') return `${ofMonth}${ofWeek}`;
  return restricts.days && restricts.weekdays ? `${ofMonth} or ${ofWeek}` : `${ofMonth}, only ${ofWeek}`;
};

const weekdayLabel = (weekdays: readonly number[]): string => {
  if (weekdays.join() === '1,2,3,4,5') return 'Monday to Friday';
  if (weekdays.join() === '0,6') return 'Saturday and Sunday';
  return `on ${listed(weekdays.map((day) => `${weekdayNames[day]}`))}`;
};

/** The step of values that cover a whole range from 0; undefined for others. */
const stepOf = (values: readonly number[], round: number): number | undefined => {
  const step = values.length > 1 ? (values[1] ?? 0) - (values[0] ?? 0) : undefined;
  if (step === undefined || round % step !== 0 || values.length !== round / step) return undefined;
  return values.every((value, index) => value === index * step) ? step : undefined;
};

const listed = (values: readonly (string | number)[]): string =>
  values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} and ${values.at(-1)}`;

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ');

const twoDigits = (value: number): string => String(value).padStart(2, '0');

const utcFormat = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});
const localFormat = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});

const zoneName = localFormat.resolvedOptions().timeZone;
export const isUtcHere = ['UTC', 'Etc/UTC', 'GMT'].includes(zoneName);

/** `Mon, 5 Jan 2026, 09:00 UTC`. */
export const utcTime = (atMs: number): string => `${utcFormat.format(atMs)} UTC`;
/** The same in the reader's zone, which it names. */
export const localTime = (atMs: number): string => localFormat.format(atMs);
