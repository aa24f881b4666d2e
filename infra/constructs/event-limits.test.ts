/**
 * The embedded cloud ends a function after the same time, and tries an asynchronous invocation as often, and for as long, as AWS does
 * with these settings.
 */
import { expect, test } from 'vitest';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import { deployedFunctions, functionNamed, functionVariables } from '../../local/deployed-functions.ts';
import { shapes } from './platform-function.ts';

/** Lambda's own. */
const [retriesDefault, ageSecondsDefault] = [2, 6 * 3600];

const deployed = deployedFunctions({
  entryOf: (name) => name,
  endpoints: {},
  variables: functionVariables({
    token: 'sp_test',
    sandboxSecret: 'x'.repeat(64),
    variables: {},
    connectionsUrl: 'http://127.0.0.1:1',
    limits: 'enforced',
  }),
});

test.each(Object.keys(environments) as FunctionName[])('%s and its events', (name) => {
  const { timeout, retryAttempts = retriesDefault, maxEventAge } = shapes[name];
  const { timeoutMs, events = {} } = deployed.find((one) => one.name === functionNamed(name)) ?? {};
  const { retriesMax = retriesDefault, ageMsMax = ageSecondsDefault * 1000 } = events;
  expect({ timeoutMs, retriesMax, ageMsMax }).toEqual({
    timeoutMs: timeout.toMilliseconds(),
    retriesMax: retryAttempts,
    ageMsMax: maxEventAge?.toMilliseconds() ?? ageSecondsDefault * 1000,
  });
});
