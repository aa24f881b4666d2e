/** Runs a session's turns; invoked asynchronously whenever there may be something to do. */
import { makeMcpServerStore } from '#shared/adapters/aws/dynamo/mcp-servers.ts';
import { makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import { makeMetricsStore } from '#shared/adapters/aws/dynamo/usage-metrics.ts';
import { openProjectSecrets } from '#shared/adapters/aws/project-secrets.ts';
import { openSandboxes } from '#shared/adapters/aws/sandboxes.ts';
import { resolveSecret } from '#shared/adapters/aws/setting-secrets.ts';
import { compose } from '#shared/adapters/lambda/compose.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { openRemoteMcp } from '#shared/adapters/mcp/open-remote-mcp.ts';
import { makeModelProviders } from '#shared/adapters/models/model-providers.ts';
import { modelAccess } from '#shared/adapters/models/provider-access.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { runTurn } from '#shared/application/turn/turn-loop.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import {
  knownTemplatesOf,
  slotLimitsOf,
  treeLimitsOf,
  turnLimitsOf,
} from '#shared/config/environment-values.ts';
import type { Frame } from '#shared/contracts/frames.ts';
import type { FeaturesSeen } from '#shared/domain/features.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { callsPerAnswerMax } from '#shared/domain/limits.ts';
import type { ProviderName, TokenUsage } from '#shared/domain/model.ts';
import { costOf, pricesOf } from '#shared/domain/price.ts';
import type { SessionMark } from '#shared/domain/turn/session-mark.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('turn', process.env);
const runtime = openLambdaRuntime('turn', environment.DEPLOYMENT);
const { table, lambda, ports: common } = compose(environment, runtime);
runtime.storeUsageIn(makeMetricsStore(table));

const models = makeModelProviders(modelAccess(environment, resolveSecret));

const settings = {
  outputTokensMax: environment.MAX_OUTPUT_TOKENS,
  leaseMs: environment.TURN_LEASE_SECONDS * 1000,
  toolTimes: { waitMs: environment.TOOL_WAIT_SECONDS * 1000, secondsMax: environment.MAX_TOOL_SECONDS },
  limits: {
    turn: { ...turnLimitsOf(environment), callsMax: callsPerAnswerMax },
    history: { tokensMax: environment.MAX_HISTORY_TOKENS, messagesMax: environment.MAX_HISTORY_MESSAGES },
    tree: treeLimitsOf(environment),
    idleMs: environment.MAX_IDLE_TIME_MS,
    waitStopMs: environment.WAIT_STOP_SECONDS * 1000,
    templates: knownTemplatesOf(environment),
  },
};

type TurnWork = {
  readonly sessionId: SessionId;
  readonly correlationId: string;
  readonly hops?: number;
  readonly seen?: FeaturesSeen;
  readonly frames?: readonly Frame[];
  readonly kills?: readonly string[];
  readonly mark?: SessionMark;
};

const prices = pricesOf(environment.MODEL_PRICES);

const ports = {
  ...common,
  ...slotLimitsOf(environment),
  trees: makeTreeStore(table),
  mcpServers: makeMcpServerStore(table),
  recursionDepthMax: environment.MAX_RECURSION_DEPTH,
  secrets: openProjectSecrets(table, { prefix: environment.PROJECT_SECRETS_PREFIX }),
  remoteMcp: openRemoteMcp({ allowedPrivateHosts: environment.MCP_ALLOWED_PRIVATE_HOSTS }),
  mcpTimes: { checkMs: environment.MCP_CHECK_SECONDS * 1000 },
  models,
  modelPrices: prices,
  costOf: (provider: ProviderName, model: string, usage: TokenUsage) =>
    costOf({ provider, model }, usage, prices).usd,
};
const sandboxes = openSandboxes(environment, { table, lambda, correlation: runtime.correlation });

export const handler = runtime.handler<TurnWork, void>(
  async ({ sessionId, correlationId, hops = 0, ...work }, context) => {
    runtime.correlation.follow(correlationId);
    const deadlineAt = systemWorld.now() + context.getRemainingTimeInMillis();
    const invocation = { sessionId, settings, deadlineAt, hops, ...work };
    await runTurn({ ...ports, ...(await sandboxes()) }, invocation);
  },
);
