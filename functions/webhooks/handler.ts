/**
 * Sends webhooks: after a commit with an event for them, after a change of one, and for a person who tests one.
 * Once a minute it sends deliveries that were lost or are due again. The only function that reads their secrets.
 */
import { openTable } from '#shared/adapters/aws/clients.ts';
import { makeAuditLog } from '#shared/adapters/aws/dynamo/audit-log.ts';
import { makeDeliveryQueue } from '#shared/adapters/aws/dynamo/deliveries.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { makeWebhookPost } from '#shared/adapters/webhook/webhook-post.ts';
import { runSender, sendTest, sweepWebhooks } from '#shared/application/webhook/run-sender.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import { webhookTask } from '#shared/contracts/background-tasks.ts';
import { decode } from '#shared/contracts/decode.ts';
import { senderRunMs } from '#shared/domain/webhook/limits.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('webhooks', process.env);
const runtime = openLambdaRuntime('webhooks', environment.DEPLOYMENT);
const table = openTable(environment.TABLE_NAME);

const ports = {
  webhooks: makeWebhookStore(table),
  deliveries: makeDeliveryQueue(table),
  post: makeWebhookPost({ allowedPrivateHosts: environment.WEBHOOK_ALLOWED_PRIVATE_HOSTS }),
  auditLog: makeAuditLog(table),
  telemetry: runtime.telemetry,
  world: systemWorld,
};

const firstPauseMs = environment.WEBHOOK_RETRY_SECONDS * 1000;

export const handler = runtime.handler<unknown, object>(async (event, { awsRequestId }) => {
  const decoded = decode(webhookTask, event);
  if (!decoded.ok) throw new Error(`not a task of the webhook sender: ${decoded.problem}`);
  const task = decoded.value;
  runtime.correlation.follow(task.correlationId ?? awsRequestId);
  const run = { until: systemWorld.now() + senderRunMs, firstPauseMs, publicUrl: environment.PUBLIC_URL };
  if ('sweep' in task) return sweepWebhooks(ports, { ...run, url: task.url });
  if ('test' in task) return sendTest(ports, task.test, environment.PUBLIC_URL);
  if ('webhook' in task) return runSender(ports, { ...run, notices: [], webhooks: [task.webhook] });
  return runSender(ports, { ...run, notices: task.notices, webhooks: [] });
});
