/**
 * Sends the output of a process to a connection that is attached to it; invoked asynchronously by the socket function, and
 * by itself before its time is over.
 */
import { openLambda, openSockets, openTable } from '#shared/adapters/aws/clients.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeProcessStore } from '#shared/adapters/aws/dynamo/process-store.ts';
import { makeTerminalStore } from '#shared/adapters/aws/dynamo/terminal-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import { makeInvoker } from '#shared/adapters/aws/lambda-invoker.ts';
import { openSandboxLink } from '#shared/adapters/aws/open-sandbox-link.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { type FollowWork, followTerminal } from '#shared/application/process/follow-terminal.ts';
import { readEnvironment } from '#shared/config/environment.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('terminal', process.env);
const runtime = openLambdaRuntime('terminal', environment.DEPLOYMENT);
const table = openTable(environment.TABLE_NAME);
const lambda = openLambda();

const functions = { terminal: environment.TERMINAL_FUNCTION, relay: environment.RELAY_FUNCTION };
const invoker = makeInvoker(lambda, functions, runtime.correlation);

const ports = {
  turns: makeTurnStore(table),
  workspaces: makeWorkspaceStore(table),
  processes: makeProcessStore(table),
  tokens: makeTokenStore(table),
  connections: makeConnectionStore(table),
  terminals: makeTerminalStore(table),
  sockets: openSockets(environment.CONNECTIONS_URL),
  link: openSandboxLink(environment, { lambda, correlation: runtime.correlation }),
  followerStarter: invoker,
  relayStarter: invoker,
  adminTokenHash: environment.ADMIN_TOKEN_SHA256,
  correlation: runtime.correlation,
  telemetry: runtime.telemetry,
  world: systemWorld,
};

type TerminalWork = Omit<FollowWork, 'deadlineAt'> & { readonly correlationId: string };

export const handler = runtime.handler<TerminalWork, void>(async (work, context) => {
  runtime.correlation.follow(work.correlationId);
  await followTerminal(ports, {
    ...work,
    deadlineAt: systemWorld.now() + context.getRemainingTimeInMillis(),
  });
});
