/** The ports of one invocation: the stores of production over the table in memory, and a world around them that fails. */

import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeAuditLog } from '#shared/adapters/aws/dynamo/audit-log.ts';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeEventLog } from '#shared/adapters/aws/dynamo/event-log.ts';
import { makeInbox } from '#shared/adapters/aws/dynamo/inbox.ts';
import { makeMcpServerStore } from '#shared/adapters/aws/dynamo/mcp-servers.ts';
import { makeGrantStore } from '#shared/adapters/aws/dynamo/oauth-grant-store.ts';
import { makeProcessStore } from '#shared/adapters/aws/dynamo/process-store.ts';
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import { makeSandboxLog } from '#shared/adapters/aws/dynamo/sandbox-log.ts';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeSlotStore } from '#shared/adapters/aws/dynamo/slots.ts';
import { makeSnapshotStore } from '#shared/adapters/aws/dynamo/snapshots.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import { makeEnvironments } from '#shared/adapters/aws/environments.ts';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { ConnectionId, WorkspaceId } from '#shared/domain/ids.ts';
import type { ProviderName, TokenUsage } from '#shared/domain/model.ts';
import type { ProjectSecrets } from '#shared/ports/projects.ts';
import type { WebhookDispatcher } from '#shared/ports/webhooks.ts';
import type { SavedFiles } from '#shared/ports/workspace-archive.ts';
import { fake } from '../fake.ts';
import { archiveFor } from './archive.ts';
import type { Bucket } from './bucket.ts';
import type { Checkers } from './checkers.ts';
import type { Ecs } from './ecs.ts';
import {
  correlationFor,
  type Functions,
  forgetterFor,
  invokerFor,
  sandboxReturnerFor,
  scheduleDispatcherFor,
  socketsFor,
  telemetryFor,
} from './functions.ts';
import type { Invocation } from './invocation.ts';
import type { Ledger } from './machine.ts';
import { tableOver } from './memory-table.ts';
import { modelFor } from './model.ts';
import { costOf } from './prices.ts';
import type { InsideOptions } from './reach.ts';
import { remoteFor } from './registry.ts';
import { linkFor, toolsFor } from './sandbox-link.ts';
import { mcpTimes, type Settings } from './settings.ts';
import type { TableService } from './table-requests.ts';

type Platform = Functions & {
  readonly settings: Settings;
  readonly service: TableService;
  readonly ecs: Ecs;
  readonly checkers: Checkers;
  readonly bucket: Bucket;
  readonly ledger: Ledger;
  readonly clients: Map<ConnectionId, string[]>;
  /** The provider of a model charges so much more. */
  readonly charged: (usd: number) => void;
};

export type Ports = ReturnType<typeof portsOf>;

const bearerHash = (workspaceId: WorkspaceId, generation: number): string =>
  `bearer of ${workspaceId}:${generation}`;

const insideOf = ({
  ecs,
  bucket,
  ledger,
  checkers: { sandboxes, turns, relays },
}: Platform): InsideOptions => ({
  ecs,
  bucket,
  onLastSave: (sandbox) => sandboxes.savesLast(sandbox),
  onRestore: (sandbox) => sandboxes.restores(sandbox),
  onInput: (processId) => turns.performsOutside(processId),
  onApply: (line) => turns.applies(line),
  ledger,
  relays,
  bearerHash,
});

const storesOf = (platform: Platform, invocation: Invocation) => {
  const { further } = platform.sim;
  const table = tableOver(
    (command) => platform.service.send(invocation, command),
    (millisecondsMax) => invocation.world.sleep(further.int(0, Math.ceil(millisecondsMax))),
  );
  return {
    sessions: makeSessionStore(table),
    turns: makeTurnStore(table),
    eventLog: makeEventLog(table),
    inbox: makeInbox(table),
    workspaces: makeWorkspaceStore(table),
    environments: makeEnvironments(table, 'a secret'),
    sandboxAuthority: { certificate: () => 'the certificate of an authority' },
    slots: makeSlotStore(table),
    trees: makeTreeStore(table),
    connections: makeConnectionStore(table),
    approvals: makeApprovalStore(table),
    auditLog: makeAuditLog(table),
    // No clock of the simulator sweeps seals.
    auditSeals: { last: async () => undefined, read: async () => undefined, write: async () => undefined },
    sealKey: { publicKey: async () => undefined, sign: async () => undefined },
    callers: makeCallerStore(table),
    projects: makeProjectStore(table),
    processes: makeProcessStore(table),
    snapshots: makeSnapshotStore(table),
    sandboxLog: makeSandboxLog(table),
    tokens: makeTokenStore(table),
    grants: makeGrantStore(table),
    schedules: makeScheduleStore(table),
    webhooks: makeWebhookStore(table),
    mcpServers: makeMcpServerStore(table),
  };
};

export const portsOf = (platform: Platform, invocation: Invocation) => {
  const { clients, checkers, ecs, settings } = platform;
  const { turns } = checkers;
  const inside = insideOf(platform);
  const { delegates, isSlicing } = settings;
  const onAsked = (history: readonly HistoryMessage[]): void => turns.modelAsked(history);
  const onCharged = (outputTokens: number): void =>
    platform.charged(costOf({ inputTokens: 0, outputTokens }, settings.outputUsd));
  const onBegun = (usage: TokenUsage): void => checkers.usage.begun(invocation, usage);
  const onAnswered = (usage: TokenUsage): void => checkers.usage.answered(invocation, usage);
  return {
    ...storesOf(platform, invocation),
    sockets: socketsFor(invocation, {
      clients,
      onTold: (frame) => checkers.told(frame),
      onFirst: (connection, frame) => checkers.first(connection, frame),
    }),
    invoker: invokerFor(platform, invocation),
    forgetter: forgetterFor(platform, invocation),
    sandboxReturner: sandboxReturnerFor(platform, invocation),
    scheduleDispatcher: scheduleDispatcherFor(platform, invocation),
    correlation: correlationFor(invocation),
    telemetry: telemetryFor(invocation),
    world: invocation.world,
    host: ecs.hostFor(invocation),
    link: linkFor(inside, invocation),
    tools: toolsFor(inside, invocation),
    archive: archiveFor(inside, invocation),
    // No message here is about a file.
    savedFiles: fake<SavedFiles>({}),
    models: {
      open: () =>
        Promise.resolve(
          modelFor(invocation, { delegates, isSlicing, onAsked, onCharged, onBegun, onAnswered }),
        ),
    },
    // A wake-up that is lost loses nothing: the notices stay.
    noticeSender: { sendNotices: () => Promise.resolve() },
    webhookDispatcher: fake<WebhookDispatcher>({ dispatch: () => Promise.resolve() }),
    recursionDepthMax: settings.tree.recursionDepthMax,
    secrets: fake<ProjectSecrets>({ read: () => Promise.resolve({}), clear: () => Promise.resolve() }),
    remoteMcp: remoteFor(invocation, { onPerform: (id) => turns.performsOutside(id) }),
    mcpTimes,
    modelPrices: {},
    costOf: (_provider: ProviderName, _model: string, usage: TokenUsage) => costOf(usage, settings.outputUsd),
    checkProvider: () => undefined,
    poolSize: settings.poolSize,
    slotLimits: settings.slots,
    lifetimes: settings.lifetimes,
    bearerHash,
  };
};
