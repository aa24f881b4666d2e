/** Alarms of user-visible work: turns, scheduled runs, sandboxes, workspaces, webhooks. Each threshold has its reason beside it. */
import { Duration } from 'aws-cdk-lib';
import type { Alarms } from './alarms.ts';
import type { PlatformMetrics } from './monitored.ts';

export const addWorkAlarms = (alarms: Alarms, metric: PlatformMetrics): void => {
  addTurns(alarms, metric);
  addSandboxes(alarms, metric);
  addWorkspaces(alarms, metric);
  addWebhooks(alarms, metric);
};

const addTurns = (alarms: Alarms, metric: PlatformMetrics): void => {
  alarms.alarm('TurnsFailed', {
    metric: metric('TurnsFailed'),
    says: 'Turns end with an error.',
    runbook: 'turn-errors',
    // A user's bad key or a minute of a provider's failure passes; ten minutes need a person.
    threshold: 5,
    periods: 2,
  });
  alarms.alarm('FirstDeltaSlow', {
    metric: metric('FirstDeltaMs', { statistic: 'p90', period: Duration.minutes(15) }),
    says: 'Answers start late.',
    runbook: 'answers-start-late',
    // A model thinks for some seconds, never half a minute. Two periods of 15 minutes, since a few turns make a p90 jump.
    threshold: 30_000,
    periods: 2,
  });
  alarms.alarm('LeasesLost', {
    metric: metric('LeasesLost'),
    says: 'Turns lose their lease while they work: the table throttles, or their functions stall.',
    runbook: 'leases-lost',
    // One is a function that died and was retried; five at a time share a cause.
    threshold: 5,
  });
  alarms.alarm('ScheduleRunsFailed', {
    metric: metric('ScheduleRunsFailed'),
    says: 'Scheduled runs fail.',
    runbook: 'scheduled-runs-failed',
    // A broken schedule that runs every minute fails five times in five minutes.
    threshold: 5,
    periods: 2,
  });
};

const addSandboxes = (alarms: Alarms, metric: PlatformMetrics): void => {
  alarms.alarm('SandboxStartsFailed', {
    metric: metric('SandboxStartsFailed'),
    says: 'Sandboxes do not start.',
    runbook: 'sandbox-starts-failed',
    // Three of one session are one user; three in each of two periods are the platform.
    threshold: 3,
    periods: 2,
  });
  alarms.alarm('SandboxStartsSlow', {
    metric: metric('SandboxColdStartMs', { statistic: 'p90', period: Duration.minutes(15) }),
    says: 'New sandboxes take long to start.',
    runbook: 'sandbox-starts-slow',
    // Tens of seconds are usual for a cold start; a start fails after three minutes.
    threshold: 90_000,
    periods: 2,
  });
  alarms.alarm('SandboxesLost', {
    metric: metric('SandboxesLost'),
    says: 'Sandboxes end unexpectedly: unsaved files are lost.',
    runbook: 'sandboxes-lost',
    // A sandbox out of memory is its user's matter; three at a time point to a zone or the image.
    threshold: 3,
  });
  alarms.alarm('SandboxStopsFailed', {
    metric: metric('SandboxStopsFailed'),
    says: 'Sandboxes do not stop, and cost money.',
    runbook: 'sandbox-stops-failed',
    // The stop is retried each minute: one that fails for a quarter of an hour will not succeed by itself. That of an orphan is
    // retried with its sweep, every ten minutes.
    threshold: 1,
    periods: 3,
    among: 6,
  });
};

/** Lost work is never usual: one is enough. */
const addWorkspaces = (alarms: Alarms, metric: PlatformMetrics): void => {
  alarms.alarm('WorkspaceSavesFailed', {
    metric: metric('WorkspaceSavesFailed'),
    says: 'A workspace was not saved: its newest files are lost with the sandbox.',
    runbook: 'workspace-saves-failed',
    threshold: 1,
  });
  alarms.alarm('WorkspaceRestoresIncomplete', {
    metric: metric('WorkspaceRestoresIncomplete'),
    says: 'Files of a checkpoint were not restored.',
    runbook: 'workspace-restores-incomplete',
    threshold: 1,
  });
};

/** A disabled webhook receives nothing: one is enough. */
const addWebhooks = (alarms: Alarms, metric: PlatformMetrics): void => {
  alarms.alarm('WebhooksDisabled', {
    metric: metric('WebhooksDisabled'),
    says: 'A webhook was disabled: its receiver accepted nothing for a day, or answered 410.',
    runbook: 'webhooks-disabled',
    threshold: 1,
  });
};
