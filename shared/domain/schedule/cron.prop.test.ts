/** Five-field cron beside croner: whatever we take, both run at the same moments. */
import { Cron } from 'croner';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeCron, nextRun } from './cron.ts';

const number = (min: number, max: number) => fc.integer({ min, max });
const range = (min: number, max: number) =>
  fc
    .tuple(number(min, max), number(min, max))
    .map(([one, other]) => `${Math.min(one, other)}-${Math.max(one, other)}`);
const part = (min: number, max: number) =>
  fc.oneof(
    number(min, max).map(String),
    range(min, max),
    fc
      .tuple(fc.oneof(fc.constant('*'), range(min, max)), number(1, Math.min(max, max - min + 1)))
      .map(([of, by]) => `${of}/${by}`),
  );
const field = (min: number, max: number) =>
  fc.oneof(
    fc.constant('*'),
    fc.array(part(min, max), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(',')),
  );
const expression = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7))
  .map((fields) => fields.join(' '));
/** 2001 to 2090: no year of a hundred that is no leap year is within reach of eight years. */
const instant = fc.integer({ min: 978_307_200_000, max: 3_786_912_000_000 });

/**
 * A day field that begins with `*` and is not only that restricts nothing for crontab(5), and for croner it does: where
 * the other days are restricted as well, there is nothing to compare.
 */
const isCompared = (text: string): boolean => {
  const [, , days = '', , weekdays = ''] = text.split(' ');
  return [days, weekdays].every((value) => value === '*' || !value.includes('*'));
};

test('the next five runs are those of croner', () => {
  fc.assert(
    fc.property(expression.filter(isCompared), instant, (text, after) => {
      const decoded = decodeCron(text);
      const oracle = new Cron(text, { timezone: 'UTC', mode: '5-part' });
      if (!decoded.ok) {
        expect(decoded.problem).toBe('this cron expression has no run');
        return;
      }
      let [at, theirs]: [number | undefined, Date | null] = [after, new Date(after)];
      for (let run = 0; run < 5 && at !== undefined && theirs !== null; run += 1) {
        at = nextRun(decoded.cron, at);
        theirs = oracle.nextRun(theirs);
        expect(at).toBe(theirs?.getTime());
      }
    }),
    { numRuns: 500 },
  );
});
