/**
 * The schedules function: claims the run for which the scheduler invoked it, starts it, and once a minute
 * dispatches the schedules that were missed, lost, or are due for a check. The only function that calls the
 * scheduler.
 */
import { openLambda, openSockets, openTable } from '#shared/adapters/aws/clients.ts';
import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import { openScheduler } from '#shared/adapters/aws/event-bridge-scheduler.ts';
import { makeInvoker } from '#shared/adapters/aws/lambda-invoker.ts';
import { makeNoticeSender } from '#shared/adapters/aws/notice-sender.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { chooseProvider } from '#shared/adapters/models/operator-choice.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { dispatchSchedule } from '#shared/application/schedule/run-schedule.ts';
import { makeConverse } from '#shared/application/schedule/schedule-conversation.ts';
import { sweepSchedules } from '#shared/application/schedule/sweep-schedules.ts';
import { readEnvironment, sessionDefaultsOf } from '#shared/config/environment.ts';
import { decode } from '#shared/contracts/decode.ts';
import { scheduleTask } from '#shared/contracts/tasks.ts';
import { agentSessionsMax } from '#shared/domain/slots.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('schedules', process.env);
const runtime = openLambdaRuntime('schedules', environment.DEPLOYMENT);
const table = openTable(environment.TABLE_NAME);
const lambda = openLambda();

const defaults = {
  ...sessionDefaultsOf(environment),
  provider: chooseProvider(environment),
  slots: { executionMax: environment.MSB_MAX_SESSIONS, agentMax: agentSessionsMax },
};

const talking = {
  sessions: makeSessionStore(table),
  workspaces: makeWorkspaceStore(table),
  projects: makeProjectStore(table),
  connections: makeConnectionStore(table),
  sockets: openSockets(environment.CONNECTIONS_URL),
  approvals: makeApprovalStore(table),
  invoker: makeInvoker(lambda, {
    turn: environment.TURN_FUNCTION,
    janitor: environment.JANITOR_FUNCTION,
  }),
  webhooks: makeWebhookStore(table),
  noticeSender: makeNoticeSender(lambda, {
    functionName: environment.WEBHOOKS_FUNCTION,
    followed: runtime.followed,
  }),
  telemetry: runtime.telemetry,
  world: systemWorld,
};

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
  tokens: makeTokenStore(table),
  adminTokenHash: environment.ADMIN_TOKEN_SHA256,
};

export const handler = runtime.handler<unknown, object>(async (event, { awsRequestId }) => {
  const decoded = decode(scheduleTask, event);
  if (!decoded.ok) throw new Error(`not a task of the schedules: ${decoded.problem}`);
  const task = decoded.value;
  const correlationId = task.correlationId ?? awsRequestId;
  runtime.follow(correlationId);
  if ('sweep' in task) return sweepSchedules(ports, correlationId);
  await dispatchSchedule(ports, { id: task.scheduleId, runAt: task.runAt, correlationId });
  return { scheduleId: task.scheduleId };
});
