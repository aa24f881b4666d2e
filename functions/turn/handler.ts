/** Runs a session's turns; invoked asynchronously whenever there may be something to do. */
import { openLambda, openSockets, openTable } from '#shared/adapters/aws/clients.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { openSandboxes } from '#shared/adapters/aws/sandboxes.ts';
import { resolveSecret } from '#shared/adapters/aws/secrets.ts';
import { openHouse } from '#shared/adapters/lambda/house-handler.ts';
import { makeModelProviders } from '#shared/adapters/models/model-providers.ts';
import { keyOf } from '#shared/adapters/models/operator-choice.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { runTurn } from '#shared/application/run-turn.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { callsPerAnswerMax } from '#shared/domain/limits.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('turn', process.env);
const house = openHouse('turn');
const table = openTable(environment.TABLE_NAME);

const models = makeModelProviders({
  anthropic: {
    key: async () => resolveSecret(keyOf(environment, 'anthropic')),
    baseUrl: environment.ANTHROPIC_BASE_URL,
  },
});

const settings = {
  outputTokensMax: environment.MAX_OUTPUT_TOKENS,
  limits: {
    turn: { stepsMax: environment.MAX_STEPS_PER_TURN, callsMax: callsPerAnswerMax },
    history: { tokensMax: environment.MAX_HISTORY_TOKENS, messagesMax: environment.MAX_HISTORY_MESSAGES },
    idleMs: environment.MAX_IDLE_TIME_MS,
  },
};

type TurnWork = { readonly sessionId: SessionId; readonly correlationId: string };

const ports = {
  sessions: makeSessionStore(table),
  connections: makeConnectionStore(table),
  sockets: openSockets(environment.CONNECTIONS_URL),
  models,
  telemetry: house.telemetry,
  world: systemWorld,
};
const sandboxes = openSandboxes(environment, { table, lambda: openLambda() });

export const handler = house.handler<TurnWork, void>(async ({ sessionId, correlationId }) => {
  house.follow(correlationId);
  await runTurn({ ...ports, ...(await sandboxes()) }, { sessionId, settings, correlationId });
});
