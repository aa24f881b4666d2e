/** Alarms of user-visible work: turns, scheduled runs, sandboxes, workspaces, webhooks. Each threshold has its reason beside it. */
import { Duration } from 'aws-cdk-lib';
import type { Alarms } from './alarms.ts';
import type { OwnMetrics } from './monitored.ts';

export const addAlarmsOfWork = (alarms: Alarms, own: OwnMetrics): void => {
  addTurns(alarms, own);
  addSandboxes(alarms, own);
  addWorkspaces(alarms, own);
  addWebhooks(alarms, own);
};

const addTurns = (alarms: Alarms, own: OwnMetrics): void => {
  alarms.alarm('TurnsFailed', {
    metric: own('TurnsFailed'),
    says: 'Turns end with an error.',
    runbook: 'turn-errors',
    // One user's bad key or a minute of a provider's trouble is not ours to mend; ten minutes of it is.
    threshold: 5,
    periods: 2,
  });
  alarms.alarm('FirstDeltaSlow', {
    metric: own('FirstDeltaMs', { statistic: 'p90', period: Duration.minutes(15) }),
    says: 'Users wait long for the first words of an answer.',
    runbook: 'first-words-late',
    // A model thinks for some seconds; nobody waits for half a minute. Two quarters of an hour, since few turns make a p90 jump.
    threshold: 30_000,
    periods: 2,
  });
  alarms.alarm('LeasesLost', {
    metric: own('LeasesLost'),
    says: 'Turns lose their lease while they work: the table or the clock is slow.',
    runbook: 'leases-lost',
    // One is a function that died and came back; five at a time have one cause.
    threshold: 5,
  });
  alarms.alarm('ScheduleRunsFailed', {
    metric: own('ScheduleRunsFailed'),
    says: 'Scheduled runs fail.',
    runbook: 'scheduled-runs-failed',
    // A schedule of every minute that is broken for good makes five in five minutes.
    threshold: 5,
    periods: 2,
  });
};

const addSandboxes = (alarms: Alarms, own: OwnMetrics): void => {
  alarms.alarm('SandboxStartsFailed', {
    metric: own('SandboxStartsFailed'),
    says: 'Sandboxes do not start.',
    runbook: 'sandbox-starts-failed',
    // Three of one session are one user; three in each of two periods are the platform.
    threshold: 3,
    periods: 2,
  });
  alarms.alarm('SandboxStartsSlow', {
    metric: own('SandboxColdStartMs', { statistic: 'p90', period: Duration.minutes(15) }),
    says: 'New sandboxes take long to start.',
    runbook: 'sandbox-starts-slow',
    // Tens of seconds are usual for a cold start; whoever waits is given up on after two minutes.
    threshold: 90_000,
    periods: 2,
  });
  alarms.alarm('SandboxesLost', {
    metric: own('SandboxesLost'),
    says: 'Sandboxes end by themselves: what they had not saved is gone.',
    runbook: 'sandboxes-lost',
    // One that runs out of memory is its user's; three at a time are a zone's or the image's.
    threshold: 3,
  });
  alarms.alarm('SandboxStopsFailed', {
    metric: own('SandboxStopsFailed'),
    says: 'Sandboxes do not stop, and cost money.',
    runbook: 'sandbox-stops-failed',
    // It is asked again each minute: one that fails for a quarter of an hour will not stop by itself.
    threshold: 1,
    periods: 3,
  });
};

/** Lost work is never usual: one is enough. */
const addWorkspaces = (alarms: Alarms, own: OwnMetrics): void => {
  alarms.alarm('WorkspaceSavesFailed', {
    metric: own('WorkspaceSavesFailed'),
    says: 'A workspace was not saved: with its sandbox the newest files are lost.',
    runbook: 'workspace-saves-failed',
    threshold: 1,
  });
  alarms.alarm('WorkspaceRestoresIncomplete', {
    metric: own('WorkspaceRestoresIncomplete'),
    says: 'Files of a checkpoint did not come back.',
    runbook: 'workspace-restores-incomplete',
    threshold: 1,
  });
};

/** A disabled webhook receives nothing: one is enough. */
const addWebhooks = (alarms: Alarms, own: OwnMetrics): void => {
  alarms.alarm('WebhooksDisabled', {
    metric: own('WebhooksDisabled'),
    says: 'A webhook was disabled: its receiver accepted nothing for a day, or is gone.',
    runbook: 'webhooks-disabled',
    threshold: 1,
  });
};
