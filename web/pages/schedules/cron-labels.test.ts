import { expect, test } from 'vitest';
import { nextRuns, readCron } from './cron-labels.ts';

const describeCron = (expression: string): string => {
  const reading = readCron(expression);
  return reading.ok ? reading.description : `refused: ${reading.problem}`;
};

test.each([
  ['* * * * *', 'Every minute.'],
  ['*/15 * * * *', 'Every 15 minutes.'],
  ['*/15 9-17 * * 1-5', 'Every 15 minutes from 09:00 to 17:59 UTC, Monday to Friday.'],
  ['*/7 * * * *', 'At minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour.'],
  ['0 * * * *', 'Every hour, on the hour.'],
  ['20 * * * *', 'Every hour, at minute 20.'],
  ['0 */2 * * *', 'Every 2 hours from midnight UTC, on the hour, every day.'],
  ['30 8-16 * * *', 'Hourly, at minute 30 from 08:00 to 16:59 UTC, every day.'],
  ['0 9 * * *', 'At 09:00 UTC, every day.'],
  ['30 9,17 * * 0,6', 'At 09:30 and 17:30 UTC, Saturday and Sunday.'],
  ['0 0 1 * *', 'At 00:00 UTC, on day 1 of the month.'],
  ['0 0 1,15 * 7', 'At 00:00 UTC, on days 1 and 15 of the month or on Sunday.'],
  ['0 0 */10 * 1', 'At 00:00 UTC, on days 1, 11, 21 and 31 of the month, only on Monday.'],
  ['0 6 * 1,7 2', 'At 06:00 UTC, on Tuesday, in January and July.'],
  ['* 3 * * *', 'Every minute in the hour from 03:00 UTC, every day.'],
])('%s means: %s', (expression, description) => {
  expect(describeCron(expression)).toBe(description);
});

test.each([
  ['', 'a cron expression has 5 fields (minute, hour, day of month, month, day of week), not 1'],
  ['61 * * * *', 'minute: from 0 to 59, not "61"'],
  ['0 0 30 2 *', 'this cron expression has no run'],
])('%j is refused with the message of the server', (expression, problem) => {
  expect(describeCron(expression)).toMatch(/^refused: /);
  if (expression !== '') expect(describeCron(expression)).toBe(`refused: ${problem}`);
});

test('the next runs are in order, and leap years are considered', () => {
  const at = (iso: string): number => Date.parse(iso);
  const runsOf = (expression: string, from: string, runsMax: number) => {
    const reading = readCron(expression);
    return reading.ok
      ? nextRuns(reading.cron, at(from), runsMax).map((run) => new Date(run).toISOString())
      : [];
  };
  expect(runsOf('30 23 * * *', '2026-03-01T23:30:00Z', 2)).toEqual([
    '2026-03-02T23:30:00.000Z',
    '2026-03-03T23:30:00.000Z',
  ]);
  expect(runsOf('0 0 29 2 *', '2026-01-01T00:00:00Z', 2)).toEqual([
    '2028-02-29T00:00:00.000Z',
    '2032-02-29T00:00:00.000Z',
  ]);
});
