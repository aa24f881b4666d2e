/** The platform's own MCP server under `/mcp`: its tools, for programs and agents, answered as a stream. */
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { openLambda, openSockets, openTable } from '#shared/adapters/aws/clients.ts';
import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeAuditLog } from '#shared/adapters/aws/dynamo/audit-log.ts';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import { makeRateLimiter } from '#shared/adapters/aws/dynamo/rate-limiter.ts';
import { makeRunningCallStore } from '#shared/adapters/aws/dynamo/running-call-store.ts';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { makeSecretPointers } from '#shared/adapters/aws/dynamo/secret-pointer.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeSlotStore } from '#shared/adapters/aws/dynamo/slots.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import { makeMetricsStore } from '#shared/adapters/aws/dynamo/usage-metrics.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { makeInvoker } from '#shared/adapters/aws/lambda-invoker.ts';
import { makeNoticeSender } from '#shared/adapters/aws/notice-sender.ts';
import { openSandboxes } from '#shared/adapters/aws/sandboxes.ts';
import { makeScheduleDispatcher } from '#shared/adapters/aws/schedule-dispatcher.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { chooseProvider } from '#shared/adapters/models/operator-choice.ts';
import { openSignIn } from '#shared/adapters/oidc/sign-in.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { rateOf, readEnvironment, sessionDefaultsOf } from '#shared/config/environment.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import { agentSessionsMax } from '#shared/domain/slots.ts';
import { answer } from './authenticate-request.ts';
import { toolServer } from './tool-server.ts';
import { toolbox } from './toolbox.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('mcp', process.env);
const runtime = openLambdaRuntime('mcp', environment.DEPLOYMENT);
const table = openTable(environment.TABLE_NAME);
runtime.storeUsageIn(makeMetricsStore(table));
const lambda = openLambda();
const secretPointers = makeSecretPointers(table);
const makeServer = toolServer(toolbox);

const settings = {
  defaults: {
    ...sessionDefaultsOf(environment),
    provider: chooseProvider(environment),
    slots: { executionMax: environment.MSB_MAX_SESSIONS, agentMax: agentSessionsMax },
  },
  limits: {
    recursionDepthMax: environment.MAX_RECURSION_DEPTH,
    agentsPerSessionMax: environment.MAX_AGENTS_PER_SESSION,
    costUsdMax: environment.MAX_COST_USD,
    stepsPerTurnMax: environment.MAX_STEPS_PER_TURN,
    rate: rateOf(environment),
  },
  volume: {
    guestPath: environment.MSB_SHARED_VOLUME_GUEST_PATH,
    isAvailable: environment.MSB_SHARED_VOLUME_PATH !== undefined,
  },
};

const invoker = makeInvoker(lambda, {
  turn: environment.TURN_FUNCTION,
  janitor: environment.JANITOR_FUNCTION,
});

const ports = {
  sessions: makeSessionStore(table),
  slots: makeSlotStore(table),
  trees: makeTreeStore(table),
  projects: makeProjectStore(table),
  schedules: makeScheduleStore(table),
  scheduleDispatcher: makeScheduleDispatcher(lambda, environment.SCHEDULES_FUNCTION),
  tokens: makeTokenStore(table),
  rateLimiter: makeRateLimiter(table, settings.limits.rate),
  auditLog: makeAuditLog(table),
  runningCalls: makeRunningCallStore(table),
  secretNames: async (project: ProjectId) => (await secretPointers.read(project)).names.toSorted(),
  callers: makeCallerStore(table),
  connections: makeConnectionStore(table),
  sockets: openSockets(environment.CONNECTIONS_URL),
  approvals: makeApprovalStore(table),
  invoker,
  forgetter: invoker,
  webhooks: makeWebhookStore(table),
  noticeSender: makeNoticeSender(lambda, {
    functionName: environment.WEBHOOKS_FUNCTION,
    followed: runtime.followed,
  }),
  telemetry: runtime.telemetry,
  world: systemWorld,
  adminTokenHash: environment.ADMIN_TOKEN_SHA256,
  signIn: openSignIn(environment, runtime.telemetry),
};
const sandboxes = openSandboxes(environment, { table, lambda, followed: runtime.followed });

export const handler = runtime.streamingHandler<APIGatewayProxyEvent>(async (event) => {
  runtime.follow(event.requestContext.requestId);
  const open = async () => ({ ...ports, ...(await sandboxes()) });
  return answer(ports, event, { makeServer, settings, open });
});
