/** The WebSocket API's one integration: `$connect`, `$disconnect` and every frame a client sends. */
import type { APIGatewayProxyResult, APIGatewayProxyWebsocketEventV2WithRequestContext } from 'aws-lambda';
import { openLambda, openSockets, openTable } from '#shared/adapters/aws/clients.ts';
import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeAuditLog } from '#shared/adapters/aws/dynamo/audit-log.ts';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import { makeFrameBucket, makeRateLimiter } from '#shared/adapters/aws/dynamo/rate-limiter.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { makeMetricsStore } from '#shared/adapters/aws/dynamo/usage-metrics.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import { makeInvoker } from '#shared/adapters/aws/lambda-invoker.ts';
import { makeNoticeSender } from '#shared/adapters/aws/notice-sender.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { chooseProvider } from '#shared/adapters/models/operator-choice.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { openFrameMeter } from '#shared/application/access/frame-meter.ts';
import { closeConnection } from '#shared/application/connection/close-connection.ts';
import { rateOf, readEnvironment, sessionDefaultsOf, turnLimitsOf } from '#shared/config/environment.ts';
import { callsPerAnswerMax, frameRefusalMs } from '#shared/domain/limits.ts';
import { agentSessionsMax } from '#shared/domain/slots.ts';
import { answerFrame } from './answer-frame.ts';
import { connect } from './connect.ts';
import { decodeSocketEvent, type SocketContext } from './socket-event.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('socket', process.env);
const runtime = openLambdaRuntime('socket', environment.DEPLOYMENT);
const table = openTable(environment.TABLE_NAME);
const lambda = openLambda();
runtime.storeUsageIn(makeMetricsStore(table));

const frameMeter = openFrameMeter({
  frames: makeFrameBucket(table),
  refusals: makeRateLimiter(table, { perSecond: 1000 / frameRefusalMs, burst: 1 }),
  world: systemWorld,
});

const ports = {
  frameMeter,
  sessions: makeSessionStore(table),
  workspaces: makeWorkspaceStore(table),
  connections: makeConnectionStore(table),
  callers: makeCallerStore(table),
  sockets: openSockets(environment.CONNECTIONS_URL),
  approvals: makeApprovalStore(table),
  projects: makeProjectStore(table),
  tokens: makeTokenStore(table),
  auditLog: makeAuditLog(table),
  rateLimiter: makeRateLimiter(table, rateOf(environment)),
  invoker: makeInvoker(lambda, {
    turn: environment.TURN_FUNCTION,
    onConnected: environment.ON_CONNECTED_FUNCTION,
    janitor: environment.JANITOR_FUNCTION,
  }),
  webhooks: makeWebhookStore(table),
  noticeSender: makeNoticeSender(lambda, {
    functionName: environment.WEBHOOKS_FUNCTION,
    followed: runtime.followed,
  }),
  telemetry: runtime.telemetry,
  adminTokenHash: environment.ADMIN_TOKEN_SHA256,
  world: systemWorld,
};

const defaults = {
  ...sessionDefaultsOf(environment),
  provider: chooseProvider(environment),
  slots: { executionMax: environment.MSB_MAX_SESSIONS, agentMax: agentSessionsMax },
};

const frameSettings = {
  limits: { ...turnLimitsOf(environment), callsMax: callsPerAnswerMax },
  slotsMax: agentSessionsMax,
};

type SocketEvent = APIGatewayProxyWebsocketEventV2WithRequestContext<SocketContext>;

export const handler = runtime.handler<SocketEvent, APIGatewayProxyResult>(async (event) => {
  const request = decodeSocketEvent(event);
  runtime.follow(request.correlationId);
  switch (event.requestContext.eventType) {
    case 'CONNECT':
      return connect(ports, request, defaults);
    case 'DISCONNECT':
      frameMeter.forget(request.connectionId);
      await closeConnection(ports, request.connectionId, frameSettings.limits);
      break;
    case 'MESSAGE':
      await answerFrame(ports, request, frameSettings);
      break;
  }
  return { statusCode: 200, body: '' };
});
