/** The handler of ECS task state changes, from EventBridge: at least once, in any order. */
import type { EventBridgeEvent } from 'aws-lambda';
import { openLambda, openSockets, openTable } from '#shared/adapters/aws/clients.ts';
import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeSandboxLog } from '#shared/adapters/aws/dynamo/sandbox-log.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeMetricsStore } from '#shared/adapters/aws/dynamo/usage-metrics.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import { makeInvoker } from '#shared/adapters/aws/lambda-invoker.ts';
import { makeNoticeSender } from '#shared/adapters/aws/notice-sender.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { recordTaskEvent } from '#shared/application/sandbox/record-task-event.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import { type TaskStateChange, taskEvent } from './task-state-change.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('task-events', process.env);
const runtime = openLambdaRuntime('task-events', environment.DEPLOYMENT);
const table = openTable(environment.TABLE_NAME);
const lambda = openLambda();
runtime.storeUsageIn(makeMetricsStore(table));

const ports = {
  sessions: makeSessionStore(table),
  workspaces: makeWorkspaceStore(table),
  connections: makeConnectionStore(table),
  sandboxLog: makeSandboxLog(table),
  invoker: makeInvoker(lambda, { janitor: environment.JANITOR_FUNCTION }),
  sockets: openSockets(environment.CONNECTIONS_URL),
  approvals: makeApprovalStore(table),
  webhooks: makeWebhookStore(table),
  noticeSender: makeNoticeSender(lambda, {
    functionName: environment.WEBHOOKS_FUNCTION,
    followed: runtime.followed,
  }),
  telemetry: runtime.telemetry,
  world: systemWorld,
};

export const handler = runtime.handler<EventBridgeEvent<'ECS Task State Change', TaskStateChange>, void>(
  async ({ detail, id }) => {
    runtime.follow(id);
    if (detail.startedBy === environment.DEPLOYMENT) await recordTaskEvent(ports, taskEvent(detail), id);
  },
);
