/**
 * The janitor: sweeps due items every minute, audits slots, looks for orphans, fills the warm pool, checks
 * registered MCP servers, and saves and stops the sandboxes that other functions have marked.
 */
import { openLambda, openSockets, openTable } from '#shared/adapters/aws/clients.ts';
import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeAuditLog } from '#shared/adapters/aws/dynamo/audit-log.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeMcpServerStore } from '#shared/adapters/aws/dynamo/mcp-servers.ts';
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeSlotStore } from '#shared/adapters/aws/dynamo/slots.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { makeMetricsStore } from '#shared/adapters/aws/dynamo/usage-metrics.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { makeInvoker } from '#shared/adapters/aws/lambda-invoker.ts';
import { makeNoticeSender } from '#shared/adapters/aws/notice-sender.ts';
import { openProjectSecrets } from '#shared/adapters/aws/project-secrets.ts';
import { openSandboxes } from '#shared/adapters/aws/sandboxes.ts';
import { makeWebhookDispatcher } from '#shared/adapters/aws/webhook-dispatcher.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { makeRemoteMcp } from '#shared/adapters/mcp/remote-mcp.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { lifetimesOf, readEnvironment, sessionDefaultsOf } from '#shared/config/environment.ts';
import { decode } from '#shared/contracts/decode.ts';
import { janitorTask } from '#shared/contracts/tasks.ts';
import { agentSessionsMax } from '#shared/domain/slots.ts';
import { type JanitorPorts, perform } from './perform.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('janitor', process.env);
const runtime = openLambdaRuntime('janitor', environment.DEPLOYMENT);
const table = openTable(environment.TABLE_NAME);
runtime.storeUsageIn(makeMetricsStore(table));
const lambda = openLambda();
const sandboxes = openSandboxes(environment, { table, lambda, followed: runtime.followed });

const settings = {
  lifetimes: lifetimesOf(environment),
  poolSize: environment.POOL_SIZE,
  mcpTimes: { checkMs: environment.MCP_CHECK_SECONDS * 1000 },
  defaults: {
    ...sessionDefaultsOf(environment),
    provider: 'demo' as const,
    slots: { executionMax: environment.MSB_MAX_SESSIONS, agentMax: agentSessionsMax },
  },
  flavors: { execution: environment.MSB_DEFAULT_FLAVOR, agent: 'micro' as const },
};

const ports = {
  sessions: makeSessionStore(table),
  slots: makeSlotStore(table),
  projects: makeProjectStore(table),
  tokens: makeTokenStore(table),
  schedules: makeScheduleStore(table),
  auditLog: makeAuditLog(table),
  mcpServers: makeMcpServerStore(table),
  webhooks: makeWebhookStore(table),
  webhookDispatcher: makeWebhookDispatcher(lambda, environment.WEBHOOKS_FUNCTION),
  secrets: openProjectSecrets(table, { prefix: environment.PROJECT_SECRETS_PREFIX }),
  remoteMcp: makeRemoteMcp({ allowedPrivateHosts: environment.MCP_ALLOWED_PRIVATE_HOSTS }),
  connections: makeConnectionStore(table),
  sockets: openSockets(environment.CONNECTIONS_URL),
  approvals: makeApprovalStore(table),
  noticeSender: makeNoticeSender(lambda, {
    functionName: environment.WEBHOOKS_FUNCTION,
    followed: runtime.followed,
  }),
  telemetry: runtime.telemetry,
  world: systemWorld,
};

export const handler = runtime.handler<unknown, object>(async (event, { awsRequestId }) => {
  const decoded = decode(janitorTask, event);
  if (!decoded.ok) throw new Error(`not a task of the janitor: ${decoded.problem}`);
  const task = decoded.value;
  const correlationId = task.correlationId ?? awsRequestId;
  runtime.follow(correlationId);
  const all: JanitorPorts = {
    ...ports,
    ...(await sandboxes()),
    invoker: makeInvoker(lambda, { turn: environment.TURN_FUNCTION }),
  };
  return perform(all, task, { ...settings, correlationId });
});
