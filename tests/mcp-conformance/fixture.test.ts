/** Our handler with the conformance suite's own tools, prompts and resources: all that the protocol asks of a handler. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFixture } from './diagnostics/fixture-server.ts';
import { requiredOf } from './requirements.ts';
import { failuresOf, runSuite, type Verdicts } from './suite.ts';

let fixture: Awaited<ReturnType<typeof openFixture>>;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

/** An extension that a server may have and we have not: `-32601` to its methods is what is asked of one without. */
const isTasks = (name: string): boolean => name.startsWith('tasks-');
const without = (verdicts: Verdicts, isLeftOut: (scenario: string) => boolean): Verdicts =>
  Object.fromEntries(Object.entries(verdicts).filter(([scenario]) => !isLeftOut(scenario)));

test('2026-07-28: every scenario of the revision, and extra ones', async () => {
  const verdicts = await runSuite(fixture.url, ['--requirements', '2026-07-28']);
  expect(Object.keys(verdicts)).toEqual(expect.arrayContaining([...(await requiredOf('2026-07-28'))]));
  expect(failuresOf(without(verdicts, isTasks))).toEqual({});
});

describe('2025-11-25, for older clients', () => {
  /** A server without sessions cannot ask its client in the middle of a call, nor tell it anything later. */
  const needSessions = [
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    'resources-subscribe',
    'resources-unsubscribe',
    'tools-call-elicitation',
    'tools-call-sampling',
  ];
  /** Recommended for streams that can be taken up again; ours cannot, since nothing is kept of them. */
  const warnings = [
    'server-sse-multiple-streams:server-sse-multiple-streams-session',
    'server-sse-polling:server-sse-polling-session',
    'server-sse-polling:server-sse-priming-event',
    'server-sse-polling:server-sse-retry-field',
  ];

  test('every scenario that needs no session', async () => {
    const verdicts = await runSuite(fixture.url, ['--requirements', '2025-11-25']);
    expect(Object.keys(verdicts)).toEqual(expect.arrayContaining([...(await requiredOf('2025-11-25'))]));
    const failures = failuresOf(without(verdicts, (name) => isTasks(name) || needSessions.includes(name)));
    expect(Object.keys(failures).toSorted()).toEqual(warnings);
  });
});
