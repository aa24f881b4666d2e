/** The WebSocket API's one integration: `$connect`, `$disconnect` and every frame a client sends. */
import type { APIGatewayProxyResult, APIGatewayProxyWebsocketEventV2WithRequestContext } from 'aws-lambda';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeFrameBucket, makeRateLimiter } from '#shared/adapters/aws/dynamo/rate-buckets.ts';
import { makeMetricsStore } from '#shared/adapters/aws/dynamo/usage-metrics.ts';
import { compose } from '#shared/adapters/lambda/compose.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { loadOnce } from '#shared/adapters/load-once.ts';
import { chooseProvider } from '#shared/adapters/models/configured-providers.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { openFrameMeter } from '#shared/application/access/frame-meter.ts';
import { openGreetings } from '#shared/application/connection/await-greeting.ts';
import type { AttachTerminal } from '#shared/application/process/attach-terminal.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import { rateOf, sessionDefaultsOf, slotLimitsOf, turnLimitsOf } from '#shared/config/environment-values.ts';
import { callsPerAnswerMax, frameRefusalMs } from '#shared/domain/limits.ts';
import type { SandboxLink } from '#shared/ports/sandbox.ts';
import type { SavedFiles } from '#shared/ports/workspace-archive.ts';
import { answerFrame } from './answer-frame.ts';
import { connect } from './connect.ts';
import { decodeSocketEvent, type SocketContext } from './socket-request.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('socket', process.env);
const runtime = openLambdaRuntime('socket', environment.DEPLOYMENT);
const { table, lambda, ports: common } = compose(environment, runtime);
runtime.storeUsageIn(makeMetricsStore(table));

const frameMeter = openFrameMeter({
  frames: makeFrameBucket(table),
  refusals: makeRateLimiter(table, { perSecond: 1000 / frameRefusalMs, burst: 1 }),
  world: systemWorld,
});

const { correlation } = runtime;
const rarePorts = loadOnce(async () =>
  (await import('./rare-actions.ts')).openRarePorts(environment, {
    ...{ table, lambda, correlation, followerStarter: common.invoker },
  }),
);
const attachTerminal: AttachTerminal = async (...asked) => (await rarePorts()).attachTerminal(...asked);
const link: SandboxLink = { fetch: async (...asked) => (await rarePorts()).link.fetch(...asked) };
const savedFiles: SavedFiles = { fetch: async (...asked) => (await rarePorts()).savedFiles.fetch(...asked) };

const ports = {
  ...common,
  ...slotLimitsOf(environment),
  attachTerminal,
  link,
  savedFiles,
  frameMeter,
  awaitGreeting: openGreetings({ connections: common.connections, world: systemWorld }),
  callers: makeCallerStore(table),
  rateLimiter: makeRateLimiter(table, rateOf(environment)),
  adminTokenHash: environment.ADMIN_TOKEN_SHA256,
};

const defaults = {
  ...sessionDefaultsOf(environment),
  provider: chooseProvider(environment),
};

const frameSettings = {
  limits: { ...turnLimitsOf(environment), callsMax: callsPerAnswerMax },
};

type SocketEvent = APIGatewayProxyWebsocketEventV2WithRequestContext<SocketContext>;

export const handler = runtime.handler<SocketEvent, APIGatewayProxyResult>(async (event) => {
  const request = decodeSocketEvent(event);
  correlation.follow(request.correlationId);
  switch (event.requestContext.eventType) {
    case 'CONNECT':
      return connect(ports, request, defaults);
    case 'DISCONNECT':
      frameMeter.forget(request.connectionId);
      await (await import('./rare-actions.ts')).closeConnection(ports, request, frameSettings.limits);
      break;
    case 'MESSAGE':
      await answerFrame(ports, request, frameSettings);
      break;
  }
  return { statusCode: 200, body: '' };
});
