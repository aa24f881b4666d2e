import { expect, test } from 'vitest';
import { newRun, newSchedule } from '../../../tests/conformance/schedule-fixture.ts';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import type { CallId, MessageId, ProjectId, SessionId, TurnId, WorkspaceId } from '../ids.ts';
import type { ToolCall } from '../turn/tool-call.ts';
import type { CallTrial, TriedCall } from '../turn/trial.ts';
import type { Deciding } from '../turn/turn.ts';
import { occurrencesOf, runFailed } from './notice.ts';
import { hears, type Webhook, type WebhookId } from './webhook.ts';

const call: ToolCall = {
  ...{ callId: 'c' as CallId, name: 'execute_command', args: { command: 'ls' }, askedHuman: true },
  ...{ status: 'pending', digest: 'd', askedAt: '2026-01-01T00:00:00.000Z' },
};
const asked = (trial?: CallTrial): Deciding => ({
  ...{ kind: 'deciding', turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
  ...{ usage: { inputTokens: 0, outputTokens: 0 }, policy: { mode: 'effect', grants: [] } },
  calls: [trial === undefined ? call : { ...call, trial }],
});
const tried = (session: string): TriedCall => ({
  ...{ state: 'tried', session: session as SessionId, workspace: 'w' as WorkspaceId },
  ...{ effect: { files: [], exitCode: 0, output: '', hosts: [], durationMs: 1 } },
  ...{ effectDigest: `digest of ${session}`, outcome: { code: 'x', message: 'y' } },
});
const due = asked({ state: 'due' });

const session = newSession();
const keys = (before: Deciding, state: Deciding) =>
  occurrencesOf({ session, before, state, log: [] }).map(({ key }) => key);

/** A receiver drops a delivery whose `webhook-id` it knows: a person would never hear of the second question. */
test('a call that is asked about again, with another effect, is another event', () => {
  const [first] = keys(due, asked(tried('s1')));
  const [second] = keys(due, asked(tried('s2')));
  const [untried] = keys(due, asked({ state: 'untried', reason: 'no sandbox' }));
  expect(new Set([first, second, untried]).size).toBe(3);
  expect(keys(due, asked(tried('s1')))).toEqual([first]);
});

test('a call that only waits on is no event', () => {
  expect(keys(asked(tried('s1')), asked(tried('s1')))).toEqual([]);
  expect(keys(asked(tried('s1')), due)).toEqual([]);
});

const [one, other] = ['one' as ProjectId, 'other' as ProjectId];
const webhook: Webhook = {
  ...{ id: 'w' as WebhookId, owner: newSchedule().creator.owner, url: 'https://a.example' },
  ...{ events: ['schedule_failed'], isEnabled: true, enabledAt: 1, createdAt: 1, updatedAt: 1, version: 0 },
};

test('WH7: a failed run is told to those who may read its schedule', () => {
  const hearing = (...projects: readonly ProjectId[]) => {
    const schedule = newSchedule({ targets: projects.map((project) => ({ project })) });
    const failed = runFailed(schedule, newRun(schedule, { target: { project: one } }));
    return [undefined, one, other].filter((project) =>
      hears({ ...webhook, ...(project && { project }) }, failed),
    );
  };
  expect(hearing(one)).toEqual([undefined, one]);
  expect(hearing(one, other)).toEqual([undefined]);
  expect(hearing(other)).toEqual([undefined]);
});
