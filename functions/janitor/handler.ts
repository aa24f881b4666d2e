/**
 * The janitor: sweeps what is due every minute, audits places, looks for orphans, fills the warm pool, and
 * saves and stops the sandboxes that others have marked.
 */
import { openLambda, openSockets, openTable } from '#shared/adapters/aws/clients.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makePlaceStore } from '#shared/adapters/aws/dynamo/places.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeInvoker } from '#shared/adapters/aws/lambda-invoker.ts';
import { openSandboxes } from '#shared/adapters/aws/sandboxes.ts';
import { openHouse } from '#shared/adapters/lambda/house-handler.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { lifetimesOf, readEnvironment } from '#shared/config/environment.ts';
import { decode } from '#shared/contracts/decode.ts';
import { janitorTask } from '#shared/contracts/janitor-task.ts';
import { type JanitorPorts, perform } from './perform.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('janitor', process.env);
const house = openHouse('janitor');
const table = openTable(environment.TABLE_NAME);
const lambda = openLambda();
const sandboxes = openSandboxes(environment, { table, lambda });

const settings = {
  lifetimes: lifetimesOf(environment),
  poolSize: environment.POOL_SIZE,
  flavors: { execution: environment.MSB_DEFAULT_FLAVOR, agent: 'micro' as const },
};

const ports = {
  sessions: makeSessionStore(table),
  places: makePlaceStore(table),
  connections: makeConnectionStore(table),
  sockets: openSockets(environment.CONNECTIONS_URL),
  telemetry: house.telemetry,
  world: systemWorld,
};

export const handler = house.handler<unknown, object>(async (event, { awsRequestId }) => {
  const decoded = decode(janitorTask, event);
  if (!decoded.ok) throw new Error(`not a task of the janitor: ${decoded.problem}`);
  const task = decoded.value;
  const correlationId = task.correlationId ?? awsRequestId;
  house.follow(correlationId);
  const all: JanitorPorts = {
    ...ports,
    ...(await sandboxes()),
    invoker: makeInvoker(lambda, { turn: environment.TURN_FUNCTION }),
  };
  return perform(all, task, { ...settings, correlationId });
});
