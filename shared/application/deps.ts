/**
 * The dependencies of the use cases: every port and setting has one name everywhere, and each folder one type for all
 * of its use cases. A use case that more callers need than its folder's names the few it uses, as `Deps<'…'>`.
 */

import type { ProjectId, WorkspaceId } from '../domain/ids.ts';
import type { CheckTimes } from '../domain/mcp/health.ts';
import type { ProviderName, TokenUsage } from '../domain/model.ts';
import type { AuditLog, RateLimiter, SignIn, TokenStore } from '../ports/access.ts';
import type { ApprovalStore } from '../ports/approval-store.ts';
import type { CallerStore, RunningCallStore } from '../ports/calls.ts';
import type { ConnectionStore, Sockets } from '../ports/connections.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { Inbox } from '../ports/inbox.ts';
import type { Forgetter, Invoker, NoticeSender } from '../ports/invoker.ts';
import type { AddressGuard, McpServerStore, RemoteMcp } from '../ports/mcp-servers.ts';
import type { ModelCatalog, ModelProviders } from '../ports/models.ts';
import type { ProjectSecrets, ProjectStore } from '../ports/projects.ts';
import type { SandboxHost, SandboxLink, SandboxLog, SandboxTools } from '../ports/sandbox.ts';
import type { ScheduleDispatcher, Scheduler, ScheduleStore } from '../ports/schedules.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { SlotStore, TreeStore } from '../ports/slots.ts';
import type { MetricsStore, Telemetry } from '../ports/telemetry.ts';
import type { TurnStore } from '../ports/turn-store.ts';
import type {
  DeliveryQueue,
  SecretMaker,
  WebhookDispatcher,
  WebhookPost,
  WebhookStore,
} from '../ports/webhooks.ts';
import type { SavedFiles, WorkspaceArchive } from '../ports/workspace-archive.ts';
import type { WorkspaceStore } from '../ports/workspace-store.ts';
import type { World } from '../ports/world.ts';

type AllDeps = {
  readonly addressGuard: AddressGuard;
  readonly adminTokenHash: string;
  readonly approvals: ApprovalStore;
  readonly archive: WorkspaceArchive;
  readonly auditLog: AuditLog;
  readonly bearerHash: (workspaceId: WorkspaceId, generation: number) => string;
  readonly callers: CallerStore;
  readonly catalog: ModelCatalog;
  /** Throws when the provider has no key. */
  readonly checkProvider: (provider: ProviderName) => void;
  readonly connections: ConnectionStore;
  readonly costOf: (provider: ProviderName, model: string, usage: TokenUsage) => number;
  readonly deliveries: DeliveryQueue;
  readonly eventLog: EventLog;
  readonly forgetter: Forgetter;
  readonly history: MetricsStore;
  readonly host: SandboxHost;
  readonly inbox: Inbox;
  readonly invoker: Invoker;
  readonly link: SandboxLink;
  readonly mcpServers: McpServerStore;
  readonly mcpTimes: CheckTimes;
  readonly models: ModelProviders;
  readonly noticeSender: NoticeSender;
  readonly poolSize: number;
  readonly post: WebhookPost;
  readonly projects: ProjectStore;
  readonly rateLimiter: RateLimiter;
  readonly recursionDepthMax: number;
  readonly remoteMcp: RemoteMcp;
  readonly runningCalls: RunningCallStore;
  readonly sandboxLog: SandboxLog;
  readonly savedFiles: SavedFiles;
  readonly scheduleDispatcher: ScheduleDispatcher;
  readonly scheduler: Scheduler;
  readonly schedules: ScheduleStore;
  readonly secretNames: (project: ProjectId) => Promise<readonly string[]>;
  readonly secrets: ProjectSecrets;
  readonly sessions: SessionStore;
  /** Undefined: people sign in with tokens only. */
  readonly signIn?: SignIn | undefined;
  readonly slots: SlotStore;
  readonly sockets: Sockets;
  readonly telemetry: Telemetry;
  readonly tokens: TokenStore;
  readonly tools: SandboxTools;
  readonly trees: TreeStore;
  readonly turns: TurnStore;
  readonly webhookDispatcher: WebhookDispatcher;
  readonly webhookGuard: AddressGuard;
  readonly webhookSecrets: SecretMaker;
  readonly webhooks: WebhookStore;
  readonly workspaces: WorkspaceStore;
  readonly world: World;
};

export type Deps<Name extends keyof AllDeps> = Pick<AllDeps, Name>;

export type AccessDeps = Deps<'tokens' | 'connections' | 'adminTokenHash' | 'signIn' | 'world'>;
export type AuditDeps = Deps<'auditLog' | 'telemetry' | 'world'>;
export type PublishDeps = Deps<'eventLog' | 'connections' | 'approvals' | 'sockets' | 'telemetry' | 'world'>;
export type EventDeps = PublishDeps & Deps<'webhooks' | 'noticeSender'>;
/** To send a new connection its first frames. */
export type ConnectionDeps = Deps<
  | 'sessions'
  | 'turns'
  | 'eventLog'
  | 'connections'
  | 'approvals'
  | 'sockets'
  | 'callers'
  | 'mcpServers'
  | 'recursionDepthMax'
  | 'checkProvider'
  | 'world'
>;
/** Of turns, without the loop that runs them. */
export type TurnDeps = EventDeps & Deps<'sessions' | 'turns' | 'inbox' | 'workspaces' | 'invoker'>;
/** To record what happens to a sandbox's task. */
export type TaskDeps = TurnDeps & Deps<'sandboxLog'>;
/** To save and stop sandboxes, without starting any. */
export type StopDeps = TaskDeps & Deps<'host' | 'archive'>;
export type SandboxDeps = StopDeps & Deps<'link' | 'tools' | 'bearerHash' | 'poolSize'>;
export type RegistryDeps = PublishDeps & Deps<'slots' | 'mcpServers' | 'remoteMcp' | 'secrets'>;
export type RegistryChangeDeps = RegistryDeps & AuditDeps & Deps<'projects' | 'addressGuard' | 'invoker'>;
export type ModelDeps = Deps<
  'models' | 'mcpServers' | 'recursionDepthMax' | 'trees' | 'costOf' | 'telemetry' | 'world'
>;
export type LoopDeps = SandboxDeps & RegistryDeps & ModelDeps & Deps<'mcpTimes'>;
export type SessionDeps = TurnDeps & Deps<'projects'>;
export type FileDeps = SandboxDeps & Deps<'savedFiles'>;
export type ExecutionDeps = SessionDeps & SandboxDeps & Deps<'slots'>;
export type ProjectDeps = AuditDeps & Deps<'projects' | 'sessions' | 'workspaces' | 'invoker' | 'forgetter'>;
/** To delete everything that belongs to a project. */
export type ForgetDeps = StopDeps &
  AuditDeps &
  Deps<'projects' | 'tokens' | 'schedules' | 'mcpServers' | 'webhookDispatcher' | 'secrets'>;
export type ScheduleDeps = AuditDeps &
  Deps<'schedules' | 'scheduleDispatcher' | 'workspaces' | 'projects' | 'sessions' | 'turns' | 'eventLog'>;
export type WebhookDeps = AuditDeps &
  Deps<'webhooks' | 'webhookDispatcher' | 'webhookGuard' | 'webhookSecrets' | 'projects'>;
export type SenderDeps = AuditDeps & Deps<'webhooks' | 'deliveries' | 'post'>;
