/** Five-field cron: what is refused, by name, and when the next run is, to the minute. */
import { describe, expect, test } from 'vitest';
import { decodeCron, nextRun } from './cron.ts';

const next = (expression: string, after: string): string | undefined => {
  const decoded = decodeCron(expression);
  if (!decoded.ok) throw new Error(decoded.problem);
  const at = nextRun(decoded.cron, Date.parse(after));
  return at === undefined ? undefined : new Date(at).toISOString();
};
const problemOf = (expression: string): string => {
  const decoded = decodeCron(expression);
  return decoded.ok ? 'taken' : decoded.problem;
};

describe('a refused expression has a reason', () => {
  const numberOfFields =
    'a cron expression has 5 fields (minute, hour, day of month, month, day of week), not ';
  test.each([
    ['', `${numberOfFields}0`],
    ['* * *', `${numberOfFields}3`],
    ['0 * * * * *', `${numberOfFields}6`],
    ['@daily', `${numberOfFields}1`],
    ['60 * * * *', 'minute: from 0 to 59, not "60"'],
    ['* 25 * * *', 'hour: from 0 to 23, not "25"'],
    ['* 24 * * *', 'hour: from 0 to 23, not "24"'],
    ['* * 32 * *', 'day of month: from 1 to 31, not "32"'],
    ['* * 0 * *', 'day of month: from 1 to 31, not "0"'],
    ['* * * 13 *', 'month: from 1 to 12, not "13"'],
    ['* * * 0 *', 'month: from 1 to 12, not "0"'],
    ['* * * * 8', 'day of week: from 0 to 7, not "8"'],
    ['*/0 * * * *', 'minute: a step is from 1 to 60, not "*/0"'],
    ['*/61 * * * *', 'minute: a step is from 1 to 60, not "*/61"'],
    ['5/2 * * * *', 'minute: a step needs * or a range before it, not "5/2"'],
    ['9-5 * * * *', 'minute: a range goes up, not "9-5"'],
    ['0 0 31 2 *', 'this cron expression has no run'],
    ['0 0 30-31 2 *', 'this cron expression has no run'],
    [`${'0,'.repeat(200)}0 * * * *`, 'a cron expression has at most 256 characters'],
  ])('%s', (expression, problem) => {
    expect(problemOf(expression)).toBe(problem);
  });

  test.each([
    'mon',
    'MON',
    'jan',
    '?',
    'L',
    '1L',
    '1#2',
    'W',
    '1,',
    ',1',
    '-1',
    '1-',
    '1--2',
    '1.5',
    '٣',
    '001',
    '+1',
    '*5',
    '**',
    'H',
  ])('a field of %s', (field) => {
    expect(problemOf(`0 0 * * ${field}`)).toMatch(/^day of week: use \*, numbers from 0 to 7, ranges, lists/);
  });
});

describe('the next run', () => {
  test.each([
    ['* * * * *', '2026-11-21T10:00:00Z', '2026-11-21T10:01:00.000Z'],
    ['* * * * *', '2026-11-21T10:00:59.999Z', '2026-11-21T10:01:00.000Z'],
    ['*/5 * * * *', '2026-11-21T10:03:00Z', '2026-11-21T10:05:00.000Z'],
    ['*/5 * * * *', '2026-12-31T23:55:00Z', '2027-01-01T00:00:00.000Z'],
    ['0 9 * * 1-5', '2026-11-20T09:00:00Z', '2026-11-23T09:00:00.000Z'],
    ['0 9 * * 1-5', '2026-11-20T08:59:59Z', '2026-11-20T09:00:00.000Z'],
    ['30 2 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T02:30:00.000Z'],
    ['0 0 29 2 *', '2096-03-01T00:00:00Z', '2104-02-29T00:00:00.000Z'],
    ['0 0 31 * *', '2026-03-31T00:00:00Z', '2026-05-31T00:00:00.000Z'],
    ['0 0 13 * 5', '2026-11-14T00:00:00Z', '2026-11-20T00:00:00.000Z'],
    ['0 0 13 * 5', '2026-12-12T00:00:00Z', '2026-12-13T00:00:00.000Z'],
    ['0 0 */2 * 1', '2026-11-21T00:00:00Z', '2026-11-23T00:00:00.000Z'],
    ['0 0 * * 0', '2026-11-21T00:00:00Z', '2026-11-22T00:00:00.000Z'],
    ['0 0 * * 7', '2026-11-21T00:00:00Z', '2026-11-22T00:00:00.000Z'],
    ['10-20/5,59 1,3 * * *', '2026-11-21T01:15:00Z', '2026-11-21T01:20:00.000Z'],
    ['10-20/5,59 1,3 * * *', '2026-11-21T01:20:00Z', '2026-11-21T01:59:00.000Z'],
    ['10-20/5,59 1,3 * * *', '2026-11-21T01:59:00Z', '2026-11-21T03:10:00.000Z'],
    ['  0   12  *  *  * ', '2026-11-21T12:00:00Z', '2026-11-22T12:00:00.000Z'],
  ])('of %s after %s is %s', (expression, after, at) => {
    expect(next(expression, after)).toBe(at);
  });
});
