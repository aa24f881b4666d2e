import { expect, test } from 'vitest';
import { refusal } from '../fixtures/fake-deployment.ts';
import { logIn } from '../fixtures/logged-in.ts';

/** The first request is carried out and its answer lost; the next one finds nothing. */
const lostOnce = () => {
  let asked = 0;
  return () => {
    asked += 1;
    return asked === 1
      ? { status: 502, body: 'bad gateway' }
      : { status: 404, body: refusal('not_found', 'there is none') };
  };
};

test('an end whose answer was lost is reported as one', async () => {
  await using there = await logIn({
    'DELETE /api/sessions/a': lostOnce(),
    'DELETE /api/sessions/b': lostOnce(),
    'DELETE /api/sessions/a/grants/g': lostOnce(),
    'DELETE /api/schedules/s': lostOnce(),
  });
  const stopped = await there.run(['stop', 'a']);
  expect([stopped.code, stopped.stdout]).toEqual([0, 'Stopped a.\n']);
  const asJson = await there.run(['stop', '--json', 'b']);
  expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([0, { id: 'b' }]);
  const grant = await there.run(['grants', 'withdraw', 'a', 'g']);
  expect([grant.code, grant.stdout]).toEqual([0, 'Withdrawn: g. The approval mode decides later calls.\n']);
  const schedule = await there.run(['schedules', 'delete', 's', '--json']);
  expect([schedule.code, JSON.parse(schedule.stdout)]).toEqual([0, { id: 's' }]);
});
