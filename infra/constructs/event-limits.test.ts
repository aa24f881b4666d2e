/** The embedded cloud tries an asynchronous invocation as often, and for as long, as AWS does with these settings. */
import { expect, test } from 'vitest';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import { eventLimits } from '../../local/deployed-functions.ts';
import { shapes } from './platform-function.ts';

/** Lambda's own. */
const [retriesDefault, ageSecondsDefault] = [2, 6 * 3600];

test.each(Object.keys(environments) as FunctionName[])('an event of %s', (name) => {
  const { retryAttempts = retriesDefault, maxEventAge } = shapes[name];
  const { retriesMax = retriesDefault, ageMsMax = ageSecondsDefault * 1000 } = eventLimits[name] ?? {};
  expect([retriesMax, ageMsMax / 1000]).toEqual([
    retryAttempts,
    maxEventAge?.toSeconds() ?? ageSecondsDefault,
  ]);
});
