/** Our own server, as it is started, under the official conformance suite: every scenario that applies to it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, startServer } from '../e2e/server.ts';
import { inapplicable, untestable } from './inapplicable.ts';
import { type Endpoint, openEndpoint } from './signed-in.ts';
import { failuresOf, runSuite, type Verdicts } from './suite.ts';

let server: Server;
let endpoint: Endpoint;
beforeAll(async () => {
  server = await startServer();
  endpoint = await openEndpoint(server);
});
afterAll(async () => {
  await endpoint.close();
  await server.stop();
});

const applies = (scenario: string): boolean => !inapplicable.some(([, names]) => names.test(scenario));

const judge = (verdicts: Verdicts) => {
  const applicable = Object.fromEntries(Object.entries(verdicts).filter(([name]) => applies(name)));
  const failures = failuresOf(applicable);
  return {
    scenarios: Object.keys(applicable).toSorted(),
    failures: Object.fromEntries(Object.entries(failures).filter(([id]) => untestable[id] === undefined)),
  };
};

test('2026-07-28', async () => {
  expect(judge(await runSuite(endpoint.url, ['--requirements', '2026-07-28']))).toEqual({
    scenarios: [
      'caching',
      'dns-rebinding-protection',
      'http-header-validation',
      'server-sse-multiple-streams',
      'server-stateless',
      'tools-list',
    ],
    failures: {},
  });
});

test('2025-11-25', async () => {
  expect(judge(await runSuite(endpoint.url, ['--requirements', '2025-11-25']))).toEqual({
    scenarios: [
      'dns-rebinding-protection',
      'logging-set-level',
      'ping',
      'server-initialize',
      'server-session-lifecycle',
      'server-sse-multiple-streams',
      'server-sse-polling',
      'tools-list',
    ],
    failures: {},
  });
});
