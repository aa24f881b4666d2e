/**
 * Five-field cron in UTC: minute, hour, day of month, month, day of week. Pure.
 *
 * A field is `*`, a number, a range or a list of them; `*` and a range may have a step. Sunday is 0 and 7. When
 * both days are restricted one of them is enough, as in crontab(5). Words, macros, `?`, `L`, `W`, `#` and a sixth
 * field are refused by name, and so is an expression that never matches.
 */
export type Cron = {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  readonly months: readonly number[];
  readonly weekdays: readonly number[];
  /** A field that begins with `*` restricts nothing. */
  readonly restricts: { readonly days: boolean; readonly weekdays: boolean };
};

type DecodedCron =
  | { readonly ok: true; readonly cron: Cron }
  | { readonly ok: false; readonly problem: string };

type Field = { readonly name: string; readonly min: number; readonly max: number };

const fields = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12 },
  { name: 'day of week', min: 0, max: 7 },
] as const satisfies readonly Field[];

const expressionCharactersMax = 256;
const shownCharactersMax = 40;
/** 29 February is at most eight years away: 1896 to 1904, 2096 to 2104. */
const searchDaysMax = 8 * 366 + 1;
const minuteMs = 60_000;
const dayMs = 86_400_000;

export const decodeCron = (expression: string): DecodedCron => {
  if (expression.length > expressionCharactersMax)
    return refused(`a cron expression has at most ${expressionCharactersMax} characters`);
  const texts = expression.split(/[ \t]+/).filter((text) => text !== '');
  if (texts.length !== fields.length)
    return refused(
      `a cron expression has 5 fields (minute, hour, day of month, month, day of week), not ${texts.length}`,
    );
  const decoded = fields.map((field, index) => decodeField(texts[index] ?? '', field));
  const problem = decoded.find((value) => typeof value === 'string');
  if (problem !== undefined) return refused(problem);
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = decoded.filter(
    (value) => typeof value !== 'string',
  );
  const cron: Cron = {
    minutes,
    hours,
    days,
    months,
    weekdays: sorted(weekdays.map((day) => day % 7)),
    restricts: { days: !texts[2]?.startsWith('*'), weekdays: !texts[4]?.startsWith('*') },
  };
  return nextRun(cron, 0) === undefined ? refused('this cron expression has no run') : { ok: true, cron };
};

const refused = (problem: string): DecodedCron => ({ ok: false, problem });

/** The values of a field, or its error. */
const decodeField = (text: string, field: Field): readonly number[] | string => {
  const values: number[] = [];
  for (const part of text.split(',')) {
    const decoded = decodePart(part, field);
    if (typeof decoded === 'string') return decoded;
    values.push(...decoded);
  }
  return sorted(values);
};

const decodePart = (part: string, { name, min, max }: Field): readonly number[] | string => {
  const shown = JSON.stringify(part.slice(0, shownCharactersMax));
  const [, all, first, last, step] = /^(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
  if (all === undefined && first === undefined)
    return `${name}: use *, numbers from ${min} to ${max}, ranges, lists and steps, not ${shown}`;
  if (step !== undefined && all === undefined && last === undefined)
    return `${name}: a step needs * or a range before it, not ${shown}`;
  const from = first === undefined ? min : Number(first);
  const to = last === undefined ? (all === undefined ? from : max) : Number(last);
  const by = step === undefined ? 1 : Number(step);
  if (from < min || to > max) return `${name}: from ${min} to ${max}, not ${shown}`;
  if (from > to) return `${name}: a range goes up, not ${shown}`;
  if (by < 1 || by > max - min + 1) return `${name}: a step is from 1 to ${max - min + 1}, not ${shown}`;
  return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, index) => from + index * by);
};

const sorted = (values: readonly number[]): readonly number[] =>
  [...new Set(values)].sort((one, other) => one - other);

/** The first run after an instant, both in epoch milliseconds; undefined when there is none within eight years. */
export const nextRun = (cron: Cron, after: number): number | undefined => {
  const from = Math.floor(after / minuteMs) * minuteMs + minuteMs;
  const firstDay = Math.floor(from / dayMs) * dayMs;
  for (let day = 0; day < searchDaysMax; day += 1) {
    const midnight = firstDay + day * dayMs;
    if (!isRunDay(cron, calendarDay(midnight))) continue;
    const minute = firstMinute(cron, Math.max(0, (from - midnight) / minuteMs));
    if (minute !== undefined) return midnight + minute * minuteMs;
  }
  return undefined;
};

type CalendarDay = { readonly day: number; readonly month: number; readonly weekday: number };

const calendarDay = (midnight: number): CalendarDay => {
  // biome-ignore lint/style/noRestrictedGlobals: the calendar, not the clock
  const date = new Date(midnight);
  return { day: date.getUTCDate(), month: date.getUTCMonth() + 1, weekday: date.getUTCDay() };
};

const isRunDay = (
  { days, months, weekdays, restricts }: Cron,
  { day, month, weekday }: CalendarDay,
): boolean => {
  if (!months.includes(month)) return false;
  const isDay = days.includes(day);
  const isWeekday = weekdays.includes(weekday);
  return restricts.days && restricts.weekdays ? isDay || isWeekday : isDay && isWeekday;
};

/** The first matching minute of a day, at or after the given one. */
const firstMinute = ({ hours, minutes }: Cron, from: number): number | undefined => {
  for (const hour of hours) {
    const minute = minutes.find((value) => hour * 60 + value >= from);
    if (minute !== undefined) return hour * 60 + minute;
  }
  return undefined;
};
