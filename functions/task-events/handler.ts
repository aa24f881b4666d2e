/** The handler of ECS task state changes, from EventBridge: at least once, in any order. */
import type { EventBridgeEvent } from 'aws-lambda';
import { makeSandboxLog } from '#shared/adapters/aws/dynamo/sandbox-log.ts';
import { makeMetricsStore } from '#shared/adapters/aws/dynamo/usage-metrics.ts';
import { compose } from '#shared/adapters/lambda/compose.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { recordTaskEvent } from '#shared/application/sandbox/record-task-event.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import { type TaskStateChange, taskEvent } from './task-state-change.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('task-events', process.env);
const runtime = openLambdaRuntime('task-events', environment.DEPLOYMENT);
const { table, ports: common } = compose(environment, runtime);
runtime.storeUsageIn(makeMetricsStore(table));

const ports = { ...common, sandboxLog: makeSandboxLog(table) };

export const handler = runtime.handler<EventBridgeEvent<'ECS Task State Change', TaskStateChange>, void>(
  async ({ detail, id }) => {
    runtime.correlation.follow(id);
    if (detail.startedBy !== environment.DEPLOYMENT) return;
    const event = taskEvent(detail, environment.SANDBOX_PORT);
    if (event !== undefined) await recordTaskEvent(ports, event);
  },
);
