/** The REST API under `/api`: authenticates, routes, answers as a stream; every failure is one JSON shape. */
import { openLambda, openSockets, openTable } from '#shared/adapters/aws/clients.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeInvoker } from '#shared/adapters/aws/lambda-invoker.ts';
import { openSandboxes } from '#shared/adapters/aws/sandboxes.ts';
import { openHouse } from '#shared/adapters/lambda/house-handler.ts';
import { chooseProvider } from '#shared/adapters/models/operator-choice.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import { callsPerAnswerMax } from '#shared/domain/limits.ts';
import { answerWith } from './answer.ts';
import type { ApiEvent } from './api-request.ts';
import { routes } from './routes.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('api', process.env);
const house = openHouse('api');
const table = openTable(environment.TABLE_NAME);
const lambda = openLambda();

const settings = {
  provider: chooseProvider(environment),
  flavor: environment.MSB_DEFAULT_FLAVOR,
  template: environment.MSB_DEFAULT_TEMPLATE,
  idleMs: environment.MAX_IDLE_TIME_MS,
  ...(environment.MODEL === undefined ? {} : { model: environment.MODEL }),
};

const limits = { stepsMax: environment.MAX_STEPS_PER_TURN, callsMax: callsPerAnswerMax };

const ports = {
  sessions: makeSessionStore(table),
  connections: makeConnectionStore(table),
  sockets: openSockets(environment.CONNECTIONS_URL),
  invoker: makeInvoker(lambda, { turn: environment.TURN_FUNCTION }),
  telemetry: house.telemetry,
  world: systemWorld,
  adminTokenHash: environment.ADMIN_TOKEN_SHA256,
};
const sandboxes = openSandboxes(environment, { table, lambda });

export const handler = house.streamingHandler<ApiEvent>(async (event, context) => {
  house.follow(event.requestContext.requestId);
  const api = { ports: { ...ports, ...(await sandboxes()) }, settings, limits };
  return answerWith(ports, { event, context }, routes(api));
});
