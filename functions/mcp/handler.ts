/**
 * The platform's own MCP server under `/mcp`: its tools for programs and agents, answered as a stream. It also runs the tools
 * for programs inside sandboxes, whose calls the holder of their relay brings.
 */
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeGrantStore } from '#shared/adapters/aws/dynamo/oauth-grant-store.ts';
import { makeRateLimiter } from '#shared/adapters/aws/dynamo/rate-buckets.ts';
import { makeRunningCallStore } from '#shared/adapters/aws/dynamo/running-call-store.ts';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { makeSecretPointers } from '#shared/adapters/aws/dynamo/secret-pointer.ts';
import { makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import { makeMetricsStore } from '#shared/adapters/aws/dynamo/usage-metrics.ts';
import { openSandboxes } from '#shared/adapters/aws/sandboxes.ts';
import { makeScheduleDispatcher } from '#shared/adapters/aws/schedule-dispatcher.ts';
import { compose } from '#shared/adapters/lambda/compose.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { chooseProvider } from '#shared/adapters/models/configured-providers.ts';
import { openIssuer } from '#shared/adapters/oidc/open-issuer.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import {
  egressCeilingOf,
  rateOf,
  sessionDefaultsOf,
  slotLimitsOf,
} from '#shared/config/environment-values.ts';
import { isOwnAuthorizationServer } from '#shared/config/oidc-settings.ts';
import { isPlatformCall, type PlatformCall } from '#shared/contracts/relay/platform-call.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import { pricesOf } from '#shared/domain/price.ts';
import { answer } from './authenticate-request.ts';
import { answerCall } from './relay/answer-call.ts';
import { toolServer } from './tool-server.ts';
import { toolbox } from './toolbox.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('mcp', process.env);
const runtime = openLambdaRuntime('mcp', environment.DEPLOYMENT);
const { table, lambda, ports: common } = compose(environment, runtime);
runtime.storeUsageIn(makeMetricsStore(table));
const secretPointers = makeSecretPointers(table);
const makeServer = toolServer(toolbox);

const settings = {
  defaults: {
    ...sessionDefaultsOf(environment),
    provider: chooseProvider(environment),
  },
  limits: {
    recursionDepthMax: environment.MAX_RECURSION_DEPTH,
    agentsPerSessionMax: environment.MAX_AGENTS_PER_SESSION,
    costUsdMax: environment.MAX_COST_USD,
    stepsPerTurnMax: environment.MAX_STEPS_PER_TURN,
    rate: rateOf(environment),
  },
  toolSecondsMax: environment.MAX_TOOL_SECONDS,
  volume: {
    guestPath: environment.MSB_SHARED_VOLUME_GUEST_PATH,
    isAvailable: environment.MSB_SHARED_VOLUME_PATH !== undefined,
  },
};

const resource = {
  publicUrl: environment.PUBLIC_URL,
  issuer: isOwnAuthorizationServer(environment) ? undefined : environment.OIDC_ISSUER,
};

const ports = {
  ...common,
  ...slotLimitsOf(environment),
  ...egressCeilingOf(environment),
  trees: makeTreeStore(table),
  modelPrices: pricesOf(environment.MODEL_PRICES),
  schedules: makeScheduleStore(table),
  scheduleDispatcher: makeScheduleDispatcher(lambda, environment.SCHEDULES_FUNCTION, runtime.correlation),
  rateLimiter: makeRateLimiter(table, settings.limits.rate),
  runningCalls: makeRunningCallStore(table),
  secretNames: async (project: ProjectId) => (await secretPointers.read(project)).names.toSorted(),
  callers: makeCallerStore(table),
  grants: makeGrantStore(table),
  adminTokenHash: environment.ADMIN_TOKEN_SHA256,
  signIn: openIssuer(environment, runtime.telemetry),
};
const sandboxes = openSandboxes(environment, { table, lambda, correlation: runtime.correlation });

type Event = APIGatewayProxyEvent | PlatformCall;

export const handler = runtime.streamingHandler<Event>(async (event, invocation) => {
  const open = async () => ({ ...ports, ...(await sandboxes()) });
  const deadlineAt = systemWorld.now() + invocation.getRemainingTimeInMillis();
  if (isPlatformCall(event)) {
    runtime.correlation.follow(event.correlationId);
    const answered = await answerCall(event, { ports: await open(), settings, deadlineAt });
    return {
      statusCode: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(answered),
    };
  }
  runtime.correlation.follow(event.requestContext.requestId);
  return answer(ports, event, { makeServer, settings, open, resource, deadlineAt });
});
