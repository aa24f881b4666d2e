/**
 * Sends a connection its first frames once its `$connect` has returned; invoked asynchronously by the socket
 * function.
 */
import { openSockets, openTable } from '#shared/adapters/aws/clients.ts';
import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeEventLog } from '#shared/adapters/aws/dynamo/event-log.ts';
import { makeInbox } from '#shared/adapters/aws/dynamo/inbox.ts';
import { makeMcpServerStore } from '#shared/adapters/aws/dynamo/mcp-servers.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import { openLambdaRuntime } from '#shared/adapters/lambda/lambda-runtime.ts';
import { checkProvider } from '#shared/adapters/models/configured-providers.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { sendGreeting } from '#shared/application/connection/send-greeting.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import type { ConnectionId } from '#shared/domain/ids.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('on-connected', process.env);
const runtime = openLambdaRuntime('on-connected', environment.DEPLOYMENT);
const table = openTable(environment.TABLE_NAME);

const ports = {
  sessions: makeSessionStore(table),
  turns: makeTurnStore(table),
  eventLog: makeEventLog(table),
  inbox: makeInbox(table),
  connections: makeConnectionStore(table),
  callers: makeCallerStore(table),
  mcpServers: makeMcpServerStore(table),
  recursionDepthMax: environment.MAX_RECURSION_DEPTH,
  sockets: openSockets(environment.CONNECTIONS_URL),
  approvals: makeApprovalStore(table),
  tokens: makeTokenStore(table),
  correlation: runtime.correlation,
  telemetry: runtime.telemetry,
  world: systemWorld,
  checkProvider: checkProvider(environment),
};

type ConnectedEvent = { readonly connectionId: ConnectionId; readonly correlationId: string };

export const handler = runtime.handler<ConnectedEvent, void>(async (event) => {
  runtime.correlation.follow(event.correlationId);
  await sendGreeting(ports, event);
});
