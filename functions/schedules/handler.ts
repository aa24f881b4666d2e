/**
 * The schedules function: claims the run for which the scheduler invoked it, starts it, and once a minute
 * dispatches the schedules that were missed, lost, or are due for a check. The only function that calls the
 * scheduler. A run that needs a slot asks idle sandboxes for calls and processes first.
 */
import { makeGrantStore } from '#shared/adapters/aws/dynamo/oauth-grant-store.ts';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { openScheduler } from '#shared/adapters/aws/event-bridge-scheduler.ts';
import { compose } from '#shared/adapters/lambda/compose.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { loadOnce } from '#shared/adapters/load-once.ts';
import { chooseProvider } from '#shared/adapters/models/configured-providers.ts';
import { dispatchSchedule } from '#shared/application/schedule/dispatch-schedule.ts';
import { makeConverse } from '#shared/application/schedule/schedule-conversation.ts';
import { sweepSchedules } from '#shared/application/schedule/sweep-schedules.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import { sessionDefaultsOf, slotLimitsOf } from '#shared/config/environment-values.ts';
import { scheduleTask } from '#shared/contracts/background-tasks.ts';
import { decode } from '#shared/contracts/decode.ts';
import type { SandboxLink } from '#shared/ports/sandbox.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('schedules', process.env);
const runtime = openLambdaRuntime('schedules', environment.DEPLOYMENT);
const { table, lambda, ports: common } = compose(environment, runtime);
const { correlation } = runtime;

const defaults = {
  ...sessionDefaultsOf(environment),
  provider: chooseProvider(environment),
};

const loadLink = loadOnce(async () =>
  (await import('./sandbox-link.ts')).openSandboxLink(environment, { lambda, correlation }),
);
const link: SandboxLink = { fetch: async (...asked) => (await loadLink()).fetch(...asked) };

const talking = { ...common, ...slotLimitsOf(environment), link };

const ports = {
  ...talking,
  converse: makeConverse(talking, defaults),
  schedules: makeScheduleStore(table),
  scheduler: openScheduler({
    group: environment.SCHEDULE_GROUP,
    functionArn: environment.SCHEDULE_TARGET,
    roleArn: environment.SCHEDULE_ROLE,
    deadLettersArn: environment.SCHEDULE_DEAD_LETTERS,
  }),
  grants: makeGrantStore(table),
  adminTokenHash: environment.ADMIN_TOKEN_SHA256,
};

export const handler = runtime.handler<unknown, object>(async (event, { awsRequestId }) => {
  const decoded = decode(scheduleTask, event);
  if (!decoded.ok) throw new Error(`not a task of the schedules: ${decoded.problem}`);
  const task = decoded.value;
  correlation.follow(task.correlationId ?? awsRequestId);
  if ('sweep' in task) return sweepSchedules(ports);
  await dispatchSchedule(ports, { id: task.scheduleId, runAt: task.runAt });
  return { scheduleId: task.scheduleId };
});
