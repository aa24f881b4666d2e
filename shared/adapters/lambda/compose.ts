/**
 * The composition of a function: the ports that most functions share, built from the function's variables.
 *
 * A handler adds the ports of its own. A store is a few closures over the one table client; the clients of ECS, of
 * models and of the bucket are made only by the handlers that use them.
 */
import { openLambda, openSockets, openTable } from '../aws/clients.ts';
import { makeApprovalStore } from '../aws/dynamo/approvals.ts';
import { makeAuditLog } from '../aws/dynamo/audit-log.ts';
import { makeConnectionStore } from '../aws/dynamo/connection-store.ts';
import { makeEventLog } from '../aws/dynamo/event-log.ts';
import { makeInbox } from '../aws/dynamo/inbox.ts';
import { makeProcessStore } from '../aws/dynamo/process-store.ts';
import { makeProjectStore } from '../aws/dynamo/project-store.ts';
import { makeSessionStore } from '../aws/dynamo/session-store.ts';
import { makeSlotStore } from '../aws/dynamo/slots.ts';
import { makeSnapshotStore } from '../aws/dynamo/snapshots.ts';
import { makeTokenStore } from '../aws/dynamo/token-store.ts';
import { makeTurnStore } from '../aws/dynamo/turn-store.ts';
import { makeWebhookStore } from '../aws/dynamo/webhooks.ts';
import { makeWorkspaceStore } from '../aws/dynamo/workspace-store.ts';
import { makeInvoker, makeNoticeSender } from '../aws/lambda-invoker.ts';
import { systemWorld } from '../system-world.ts';
import type { LambdaRuntime } from './lambda-runtime.ts';

/** Of the functions that a function invokes, it has the names. */
type Variables = {
  readonly TABLE_NAME: string;
  readonly CONNECTIONS_URL: string;
  readonly WEBHOOKS_FUNCTION: string;
  readonly TURN_FUNCTION?: string;
  readonly JANITOR_FUNCTION?: string;
  readonly ON_CONNECTED_FUNCTION?: string;
  readonly TERMINAL_FUNCTION?: string;
  readonly RELAY_FUNCTION?: string;
  readonly ENABLE_CONVERSATION_COMPRESSION?: boolean;
};

export const compose = (variables: Variables, { correlation, telemetry }: LambdaRuntime) => {
  const table = openTable(variables.TABLE_NAME);
  const lambda = openLambda();
  const functions = {
    turn: variables.TURN_FUNCTION,
    janitor: variables.JANITOR_FUNCTION,
    onConnected: variables.ON_CONNECTED_FUNCTION,
    terminal: variables.TERMINAL_FUNCTION,
    relay: variables.RELAY_FUNCTION,
  };
  const invoker = makeInvoker(lambda, functions, correlation);
  const { ENABLE_CONVERSATION_COMPRESSION: compressesHistory = false } = variables;
  const ports = {
    sessions: makeSessionStore(table),
    turns: makeTurnStore(table, { compressesHistory }),
    eventLog: makeEventLog(table),
    inbox: makeInbox(table),
    workspaces: makeWorkspaceStore(table),
    processes: makeProcessStore(table),
    projects: makeProjectStore(table),
    snapshots: makeSnapshotStore(table),
    slots: makeSlotStore(table),
    tokens: makeTokenStore(table),
    auditLog: makeAuditLog(table),
    approvals: makeApprovalStore(table),
    connections: makeConnectionStore(table),
    sockets: openSockets(variables.CONNECTIONS_URL),
    webhooks: makeWebhookStore(table),
    noticeSender: makeNoticeSender(lambda, variables.WEBHOOKS_FUNCTION, correlation),
    invoker,
    forgetter: invoker,
    sandboxReturner: invoker,
    correlation,
    telemetry,
    world: systemWorld,
  };
  return { table, lambda, ports };
};
