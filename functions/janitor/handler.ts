/** The janitor, once a minute from EventBridge: sweeps what is due. */
import type { ScheduledEvent } from 'aws-lambda';
import { openLambda, openTable } from '#shared/adapters/aws/clients.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import { openTaskStopper } from '#shared/adapters/aws/ecs-sandbox-host.ts';
import { makeInvoker } from '#shared/adapters/aws/lambda-invoker.ts';
import { openHouse } from '#shared/adapters/lambda/house-handler.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { type SweepReport, sweep } from '#shared/application/sweep.ts';
import { readEnvironment } from '#shared/config/environment.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('janitor', process.env);
const house = openHouse('janitor');
const table = openTable(environment.TABLE_NAME);

const ports = {
  sessions: makeSessionStore(table),
  workspaces: makeWorkspaceStore(table),
  host: openTaskStopper(environment.SANDBOX_CLUSTER),
  invoker: makeInvoker(openLambda(), { turn: environment.TURN_FUNCTION }),
  telemetry: house.telemetry,
  world: systemWorld,
};

export const handler = house.handler<ScheduledEvent, SweepReport>(async ({ id }) => {
  house.follow(id);
  return sweep(ports, { idleMs: environment.MAX_IDLE_TIME_MS, correlationId: id });
});
