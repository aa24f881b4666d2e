/**
 * The dependencies of the use cases: every port and setting has one name everywhere, and each folder one type for all
 * of its use cases. A use case that more callers need than its folder's names the few it uses, as `Deps<'…'>`.
 */

import type { Ceiling } from '../domain/egress-policy.ts';
import type { Lifetimes } from '../domain/idle-time.ts';
import type { ProjectId, WorkspaceId } from '../domain/ids.ts';
import type { CheckTimes } from '../domain/mcp/health.ts';
import type { ProviderName, TokenUsage } from '../domain/model.ts';
import type { PriceTable } from '../domain/price.ts';
import type { SlotLimits } from '../domain/slot-holder.ts';
import type { AuditLog, LoginClient, RateLimiter, SignIn, SignInStore, TokenStore } from '../ports/access.ts';
import type { ApprovalStore } from '../ports/approval-store.ts';
import type { AuditSeals, SealKey } from '../ports/audit-seals.ts';
import type { BrokerWire } from '../ports/broker-wire.ts';
import type { CallerStore, RunningCallStore } from '../ports/calls.ts';
import type { ConnectionStore, Sockets } from '../ports/connections.ts';
import type { Egress, EgressUsage, HostStandIn, SandboxAuthority } from '../ports/egress.ts';
import type { Environments } from '../ports/environments.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { FileLinkStore } from '../ports/file-links.ts';
import type { Inbox } from '../ports/inbox.ts';
import type {
  FollowerStarter,
  Forgetter,
  Invoker,
  NoticeSender,
  RelayStarter,
  SandboxReturner,
} from '../ports/invoker.ts';
import type { AddressGuard, McpServerStore, RemoteMcp } from '../ports/mcp-servers.ts';
import type { ModelCatalog, ModelProviders } from '../ports/models.ts';
import type { ClientStore, GrantStore, OAuthProtocol } from '../ports/oauth.ts';
import type { PlatformCalls } from '../ports/platform-calls.ts';
import type { ProcessStore } from '../ports/processes.ts';
import type { ProjectSecrets, ProjectStore } from '../ports/projects.ts';
import type { SandboxHost, SandboxLink, SandboxLog, SandboxTools } from '../ports/sandbox.ts';
import type { ScheduleDispatcher, Scheduler, ScheduleStore } from '../ports/schedules.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { SlotStore } from '../ports/slots.ts';
import type { SnapshotStore } from '../ports/snapshots.ts';
import type { Correlation, MetricsStore, Telemetry } from '../ports/telemetry.ts';
import type { TerminalStore } from '../ports/terminals.ts';
import type { TreeStore } from '../ports/trees.ts';
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
  readonly auditSeals: AuditSeals;
  readonly bearerHash: (workspaceId: WorkspaceId, generation: number) => string;
  /** For the model calls of programs inside sandboxes. */
  readonly brokerSettings: {
    /** The operator's own. */
    readonly prices: PriceTable;
    /** Of a tree whose project sets none, in dollars. */
    readonly usdMax: number;
    readonly outputTokensMax: number;
  };
  readonly callers: CallerStore;
  readonly catalog: ModelCatalog;
  /** Throws when the provider has no key. */
  readonly checkProvider: (provider: ProviderName) => void;
  readonly clients: ClientStore;
  readonly connections: ConnectionStore;
  readonly correlation: Correlation;
  /** The operator's own. */
  readonly modelPrices: PriceTable;
  readonly costOf: (provider: ProviderName, model: string, usage: TokenUsage) => number;
  readonly deliveries: DeliveryQueue;
  /** Connections of sandboxes to hosts outside. */
  readonly egress: Egress;
  /** Bytes that one session may exchange with hosts outside. */
  readonly egressBytesMax: number;
  /** The hosts that any sandbox of the deployment may reach; absent: none. */
  readonly egressCeiling?: Ceiling | undefined;
  readonly egressUsage: EgressUsage;
  readonly environments: Environments;
  readonly eventLog: EventLog;
  readonly fileLinks: FileLinkStore;
  readonly followerStarter: FollowerStarter;
  readonly forgetter: Forgetter;
  readonly sandboxReturner: SandboxReturner;
  readonly grants: GrantStore;
  readonly host: SandboxHost;
  readonly inbox: Inbox;
  /** Answers programs of sandboxes in the name of hosts whose requests get a secret. */
  readonly hostStandIn: HostStandIn;
  readonly invoker: Invoker;
  readonly lifetimes: Lifetimes;
  readonly link: SandboxLink;
  /** Undefined: people cannot sign in with a browser. */
  readonly login?: LoginClient | undefined;
  readonly mcpServers: McpServerStore;
  readonly mcpTimes: CheckTimes;
  readonly metrics: MetricsStore;
  readonly models: ModelProviders;
  readonly brokerWire: BrokerWire;
  readonly noticeSender: NoticeSender;
  readonly platformCalls: PlatformCalls;
  readonly poolSize: number;
  readonly post: WebhookPost;
  readonly processes: ProcessStore;
  readonly projects: ProjectStore;
  readonly protocol: OAuthProtocol;
  readonly rateLimiter: RateLimiter;
  readonly recursionDepthMax: number;
  readonly relayIdleSeconds: number;
  readonly relayStarter: RelayStarter;
  readonly remoteMcp: RemoteMcp;
  readonly runningCalls: RunningCallStore;
  readonly sandboxAuthority: SandboxAuthority;
  /** The bearer that the server of a sandbox takes. */
  readonly sandboxBearer: (workspaceId: WorkspaceId, generation: number) => string;
  readonly sandboxLog: SandboxLog;
  readonly savedFiles: SavedFiles;
  readonly scheduleDispatcher: ScheduleDispatcher;
  readonly scheduler: Scheduler;
  readonly schedules: ScheduleStore;
  readonly secretNames: (project: ProjectId) => Promise<readonly string[]>;
  readonly sealKey: SealKey;
  readonly secrets: ProjectSecrets;
  readonly sessions: SessionStore;
  /** Undefined: people sign in with tokens only. */
  readonly signIn?: SignIn | undefined;
  readonly signInMs: number;
  readonly signIns: SignInStore;
  readonly slotLimits: SlotLimits;
  readonly slots: SlotStore;
  readonly snapshots: SnapshotStore;
  readonly sockets: Sockets;
  readonly telemetry: Telemetry;
  readonly terminals: TerminalStore;
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
  | 'tokens'
  | 'correlation'
  | 'telemetry'
  | 'world'
>;
/** To have turns go on. */
type WakeDeps = EventDeps & Deps<'sessions' | 'turns' | 'inbox' | 'workspaces' | 'invoker' | 'correlation'>;
/** Of turns, without the loop that runs them. */
export type TurnDeps = WakeDeps & Deps<'lifetimes'>;
/** To take a slot, and to free one that an idle sandbox holds. */
export type SlotDeps = Deps<'slots' | 'slotLimits' | 'lifetimes' | 'processes' | 'link'>;
export type RoomDeps = SlotDeps & PublishDeps & Deps<'sessions' | 'turns' | 'workspaces' | 'invoker'>;
/** To give a turn something to do. */
export type MessageDeps = TurnDeps & SlotDeps;
/** To record what happens to a sandbox's task. */
export type TaskDeps = WakeDeps & Deps<'sandboxLog' | 'processes'>;
/** To save and stop sandboxes, without starting any. */
export type StopDeps = TaskDeps & Deps<'host' | 'archive' | 'link' | 'lifetimes'>;
export type SandboxDeps = StopDeps &
  SlotDeps &
  Deps<'tools' | 'bearerHash' | 'environments' | 'sandboxAuthority' | 'poolSize'>;
/** To make the model calls of a sandbox. */
export type BrokerDeps = Deps<
  'sessions' | 'trees' | 'rateLimiter' | 'brokerWire' | 'brokerSettings' | 'telemetry' | 'world'
>;
/** To hold the relay of a sandbox. */
export type RelayDeps = PublishDeps &
  BrokerDeps &
  Deps<
    | 'workspaces'
    | 'projects'
    | 'link'
    | 'egress'
    | 'egressBytesMax'
    | 'egressCeiling'
    | 'egressUsage'
    | 'hostStandIn'
    | 'secrets'
    | 'relayIdleSeconds'
    | 'relayStarter'
    | 'platformCalls'
  >;
/** To use the processes of a sandbox that runs. */
export type ProcessDeps = Deps<'workspaces' | 'processes' | 'link' | 'world'> & Partial<Deps<'relayStarter'>>;
/** To follow a terminal for a connection. */
export type TerminalDeps = ProcessDeps &
  Deps<
    | 'terminals'
    | 'followerStarter'
    | 'connections'
    | 'sockets'
    | 'turns'
    | 'tokens'
    | 'adminTokenHash'
    | 'correlation'
    | 'telemetry'
    | 'world'
  >;
export type RegistryDeps = PublishDeps & Deps<'sessions' | 'mcpServers' | 'remoteMcp' | 'secrets'>;
export type RegistryChangeDeps = RegistryDeps & AuditDeps & Deps<'projects' | 'addressGuard' | 'invoker'>;
export type ModelDeps = Deps<
  | 'models'
  | 'mcpServers'
  | 'recursionDepthMax'
  | 'trees'
  | 'costOf'
  | 'workspaces'
  | 'link'
  | 'savedFiles'
  | 'telemetry'
  | 'world'
>;
export type LoopDeps = SandboxDeps & RegistryDeps & ModelDeps & Deps<'mcpTimes' | 'modelPrices'>;
export type SessionDeps = MessageDeps & Deps<'projects'>;
export type FileDeps = SandboxDeps & Deps<'savedFiles'>;
export type ExecutionDeps = SessionDeps & SandboxDeps;
export type ProjectDeps = AuditDeps &
  Deps<'projects' | 'sessions' | 'workspaces' | 'invoker' | 'forgetter' | 'egressCeiling'>;
/** To delete everything that belongs to a project. */
export type ForgetDeps = StopDeps &
  AuditDeps &
  Deps<'projects' | 'tokens' | 'schedules' | 'snapshots' | 'mcpServers' | 'webhookDispatcher' | 'secrets'>;
export type ScheduleDeps = AuditDeps &
  Deps<'schedules' | 'scheduleDispatcher' | 'workspaces' | 'projects' | 'sessions' | 'turns' | 'eventLog'>;
export type WebhookDeps = AuditDeps &
  Deps<'webhooks' | 'webhookDispatcher' | 'webhookGuard' | 'webhookSecrets' | 'projects'>;
export type SenderDeps = AuditDeps & Deps<'webhooks' | 'deliveries' | 'post'>;
