/**
 * Holds the relay of a sandbox: connects its programs to the hosts that they may reach, to the platform's tools and to models, with the
 * operator's keys. Invoked asynchronously by every function that uses a sandbox with a network or whose programs want the relay, and by
 * itself before its time is over.
 */
import { openLambda, openSockets, openTable } from '#shared/adapters/aws/clients.ts';
import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeEgressUsage } from '#shared/adapters/aws/dynamo/egress-usage.ts';
import { makeEventLog } from '#shared/adapters/aws/dynamo/event-log.ts';
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import { makeRateLimiter } from '#shared/adapters/aws/dynamo/rate-buckets.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import { makeInvoker } from '#shared/adapters/aws/lambda-invoker.ts';
import { makePlatformCalls } from '#shared/adapters/aws/lambda-platform-calls.ts';
import { openSandboxLink } from '#shared/adapters/aws/open-sandbox-link.ts';
import { openProjectSecrets } from '#shared/adapters/aws/project-secrets.ts';
import { resolveSecret } from '#shared/adapters/aws/setting-secrets.ts';
import { makeHostStandIn } from '#shared/adapters/egress/host-stand-in.ts';
import { makeTcpEgress } from '#shared/adapters/egress/tcp-egress.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { makeBrokerWire } from '#shared/adapters/models/broker-wire.ts';
import { modelAccess } from '#shared/adapters/models/provider-access.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { holdRelay } from '#shared/application/relay/hold-relay.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import { egressBytesMaxOf, egressCeilingOf, rateOf } from '#shared/config/environment-values.ts';
import { pricesOf } from '#shared/domain/price.ts';
import type { RelayWork } from '#shared/ports/invoker.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('relay', process.env);
const runtime = openLambdaRuntime('relay', environment.DEPLOYMENT);
const table = openTable(environment.TABLE_NAME);
const lambda = openLambda();
const { EGRESS_ALLOWED_PRIVATE_HOSTS: allowedPrivateHosts } = environment;

const ports = {
  workspaces: makeWorkspaceStore(table),
  projects: makeProjectStore(table),
  sessions: makeSessionStore(table),
  trees: makeTreeStore(table),
  rateLimiter: makeRateLimiter(table, rateOf(environment)),
  eventLog: makeEventLog(table),
  connections: makeConnectionStore(table),
  approvals: makeApprovalStore(table),
  sockets: openSockets(environment.CONNECTIONS_URL),
  link: openSandboxLink(environment, { lambda, correlation: runtime.correlation }),
  relayStarter: makeInvoker(lambda, { relay: environment.RELAY_FUNCTION }, runtime.correlation),
  platformCalls: makePlatformCalls({
    client: lambda,
    functionName: environment.MCP_FUNCTION,
    correlation: runtime.correlation,
  }),
  brokerWire: makeBrokerWire(modelAccess(environment, resolveSecret)),
  brokerSettings: {
    prices: pricesOf(environment.MODEL_PRICES),
    usdMax: environment.MAX_COST_USD,
    outputTokensMax: environment.MAX_OUTPUT_TOKENS,
  },
  egress: makeTcpEgress({ allowedPrivateHosts }),
  hostStandIn: makeHostStandIn({
    secret: () => resolveSecret(environment.SANDBOX_SECRET),
    now: systemWorld.now,
  }),
  secrets: openProjectSecrets(table, { prefix: environment.PROJECT_SECRETS_PREFIX }),
  ...egressCeilingOf(environment),
  ...egressBytesMaxOf(environment),
  egressUsage: makeEgressUsage(table, systemWorld.now),
  relayIdleSeconds: environment.RELAY_IDLE_SECONDS,
  telemetry: runtime.telemetry,
  world: systemWorld,
};

export const handler = runtime.handler<RelayWork & { readonly correlationId: string }, void>(
  async (work, context) => {
    runtime.correlation.follow(work.correlationId);
    await holdRelay(ports, { ...work, deadlineAt: systemWorld.now() + context.getRemainingTimeInMillis() });
  },
);
