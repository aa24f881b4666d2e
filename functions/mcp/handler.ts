/** The platform's own MCP server under `/mcp`: its tools, for programs and agents, answered as a stream. */
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { openLambda, openSockets, openTable } from '#shared/adapters/aws/clients.ts';
import { makeAuditLog } from '#shared/adapters/aws/dynamo/audit-log.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makePlaceStore } from '#shared/adapters/aws/dynamo/places.ts';
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import { makeRateLimiter } from '#shared/adapters/aws/dynamo/rate-limiter.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { makeInvoker } from '#shared/adapters/aws/lambda-invoker.ts';
import { openSandboxes } from '#shared/adapters/aws/sandboxes.ts';
import { openHouse } from '#shared/adapters/lambda/house-handler.ts';
import { chooseProvider } from '#shared/adapters/models/operator-choice.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { rateOf, readEnvironment, sessionDefaultsOf } from '#shared/config/environment.ts';
import { agentSessionsMax } from '#shared/domain/quota.ts';
import { answer } from './answer.ts';
import { toolbox } from './toolbox.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('mcp', process.env);
const house = openHouse('mcp');
const table = openTable(environment.TABLE_NAME);
const lambda = openLambda();

const settings = {
  defaults: {
    ...sessionDefaultsOf(environment),
    provider: chooseProvider(environment),
    places: { executionMax: environment.MSB_MAX_SESSIONS, agentMax: agentSessionsMax },
  },
  volume: {
    guestPath: environment.MSB_SHARED_VOLUME_GUEST_PATH,
    isAvailable: environment.MSB_SHARED_VOLUME_PATH !== undefined,
  },
};

const ports = {
  sessions: makeSessionStore(table),
  places: makePlaceStore(table),
  projects: makeProjectStore(table),
  tokens: makeTokenStore(table),
  rateLimiter: makeRateLimiter(table, rateOf(environment)),
  auditLog: makeAuditLog(table),
  connections: makeConnectionStore(table),
  sockets: openSockets(environment.CONNECTIONS_URL),
  invoker: makeInvoker(lambda, { turn: environment.TURN_FUNCTION, janitor: environment.JANITOR_FUNCTION }),
  telemetry: house.telemetry,
  world: systemWorld,
  adminTokenHash: environment.ADMIN_TOKEN_SHA256,
};
const sandboxes = openSandboxes(environment, { table, lambda });

export const handler = house.streamingHandler<APIGatewayProxyEvent>(async (event) => {
  house.follow(event.requestContext.requestId);
  const open = async () => ({ ...ports, ...(await sandboxes()) });
  return answer(ports, event, { tools: toolbox, settings, open });
});
