/**
 * The janitor: sweeps due items every minute, audits slots, looks for orphans, fills the warm pool, checks
 * registered MCP servers, and saves and stops the sandboxes that other functions have marked.
 */

import { openAuditSeals } from '#shared/adapters/aws/audit-seals.ts';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeMcpServerStore } from '#shared/adapters/aws/dynamo/mcp-servers.ts';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import { makeMetricsStore } from '#shared/adapters/aws/dynamo/usage-metrics.ts';
import { openProjectSecrets } from '#shared/adapters/aws/project-secrets.ts';
import { openSandboxes } from '#shared/adapters/aws/sandboxes.ts';
import { openSealKey } from '#shared/adapters/aws/seal-key.ts';
import { makeWebhookDispatcher } from '#shared/adapters/aws/webhook-dispatcher.ts';
import { compose } from '#shared/adapters/lambda/compose.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { openRemoteMcp } from '#shared/adapters/mcp/open-remote-mcp.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import { lifetimesOf, sessionDefaultsOf, slotLimitsOf } from '#shared/config/environment-values.ts';
import { janitorTask } from '#shared/contracts/background-tasks.ts';
import { decode } from '#shared/contracts/decode.ts';
import { agentFlavor } from '#shared/domain/flavor.ts';
import { performTask } from './janitor-tasks.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('janitor', process.env);
const runtime = openLambdaRuntime('janitor', environment.DEPLOYMENT);
const { table, lambda, ports: common } = compose(environment, runtime);
runtime.storeUsageIn(makeMetricsStore(table));
const sandboxes = openSandboxes(environment, { table, lambda, correlation: runtime.correlation });

const settings = {
  lifetimes: lifetimesOf(environment),
  poolSize: environment.POOL_SIZE,
  mcpTimes: { checkMs: environment.MCP_CHECK_SECONDS * 1000 },
  defaults: {
    ...sessionDefaultsOf(environment),
    provider: 'demo' as const,
  },
  flavors: { execution: environment.MSB_DEFAULT_FLAVOR, agent: agentFlavor },
};

const ports = {
  ...common,
  ...slotLimitsOf(environment),
  schedules: makeScheduleStore(table),
  auditSeals: openAuditSeals(environment.WORKSPACE_BUCKET, environment.AUDIT_SEAL_BUCKET),
  sealKey: openSealKey(environment.AUDIT_SEAL_KEY),
  callers: makeCallerStore(table),
  trees: makeTreeStore(table),
  mcpServers: makeMcpServerStore(table),
  webhookDispatcher: makeWebhookDispatcher(lambda, environment.WEBHOOKS_FUNCTION, runtime.correlation),
  secrets: openProjectSecrets(table, { prefix: environment.PROJECT_SECRETS_PREFIX }),
  remoteMcp: openRemoteMcp({ allowedPrivateHosts: environment.MCP_ALLOWED_PRIVATE_HOSTS }),
};

export const handler = runtime.handler<unknown, object>(async (event, { awsRequestId }) => {
  const decoded = decode(janitorTask, event);
  if (!decoded.ok) throw new Error(`not a task of the janitor: ${decoded.problem}`);
  const task = decoded.value;
  runtime.correlation.follow(task.correlationId ?? awsRequestId);
  return performTask({ ...ports, ...(await sandboxes()) }, task, settings);
});
