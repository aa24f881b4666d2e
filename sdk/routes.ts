/** Routes of the REST API, typed by the schemas of their contracts, which stay on the server. */

import type * as z from 'zod';
import type * as access from '../shared/contracts/rest/access-view.ts';
import type * as approvals from '../shared/contracts/rest/approval-view.ts';
import type * as auth from '../shared/contracts/rest/auth-view.ts';
import type * as rest from '../shared/contracts/rest/bodies.ts';
import type * as code from '../shared/contracts/rest/code-view.ts';
import type * as conversation from '../shared/contracts/rest/conversation-view.ts';
import type * as deployment from '../shared/contracts/rest/deployment-view.ts';
import type * as links from '../shared/contracts/rest/file-link-view.ts';
import type * as files from '../shared/contracts/rest/file-view.ts';
import type * as mcp from '../shared/contracts/rest/mcp-server-view.ts';
import type * as processes from '../shared/contracts/rest/process-view.ts';
import type * as projectBodies from '../shared/contracts/rest/project-bodies.ts';
import type * as projects from '../shared/contracts/rest/project-view.ts';
import type * as bodies from '../shared/contracts/rest/schedule-bodies.ts';
import type * as schedules from '../shared/contracts/rest/schedule-view.ts';
import type * as searches from '../shared/contracts/rest/search-view.ts';
import type * as sessionBodies from '../shared/contracts/rest/session-bodies.ts';
import type * as sessions from '../shared/contracts/rest/session-view.ts';
import type * as snapshots from '../shared/contracts/rest/snapshot-view.ts';
import type * as trees from '../shared/contracts/rest/tree-view.ts';
import type * as hookBodies from '../shared/contracts/rest/webhook-bodies.ts';
import type * as hooks from '../shared/contracts/rest/webhook-view.ts';
import type * as workspaces from '../shared/contracts/rest/workspace-view.ts';
import type { approval, userMessage } from '../shared/contracts/socket-actions.ts';
import type { JsonObject } from '../shared/domain/json.ts';
import { route } from './route.ts';

type Out<Schema extends z.ZodType> = z.output<Schema>;
type In<Schema extends z.ZodType> = z.input<Schema>;
type Empty = { readonly answer: undefined };

export type Session = Out<typeof sessions.sessionAnswer>;
export type SessionOptions = Omit<In<typeof rest.createSessionBody>, 'kind'>;
export type SessionTree = Out<typeof trees.treeAnswer>;
export type SearchPage = Out<typeof searches.searchAnswer>;
export type Project = Out<typeof projects.projectAnswer>;
export type Workspace = Out<typeof workspaces.workspaceAnswer>;
export type Schedule = Out<typeof schedules.scheduleAnswer>;
export type ScheduleRun = Out<typeof schedules.runAnswer>;
export type McpServer = Out<typeof mcp.serverAnswer>;
export type AccessToken = Out<typeof access.tokenAnswer>;
export type Stats = Out<typeof deployment.statsAnswer>;
export type StatsHistory = Out<typeof deployment.statsHistoryAnswer>;
export type ModelList = Out<typeof deployment.modelsAnswer>;
export type ServerConfig = In<typeof mcp.addServerBody>['config'];
export type ProviderName = Session['provider'];
/** A decision about a waiting call; the call's digest and turn go with it. */
export type Decision = Omit<In<typeof approval>, 'digest' | 'turnId' | 'effectDigest' | 'args'> & {
  readonly args?: JsonObject;
};
export type Approval = Out<typeof approvals.approvalAnswer>;
export type WaitingRow = Out<typeof approvals.approvalsAnswer>['approvals'][number];
export type SessionGrant = Out<typeof approvals.grantAnswer>;
export type AuditRow = Out<typeof access.auditAnswer>['rows'][number];
export type Webhook = Out<typeof hooks.webhookAnswer>;
export type WebhookDelivery = Out<typeof hooks.deliveryAnswer>;
export type ExecResult = Out<typeof processes.execAnswer>;
export type ProcessInfo = Out<typeof processes.processAnswer>;
export type TerminalSize = Out<typeof processes.resizeBody>;
export type CodeResult = Out<typeof code.codeAnswer>;
export type Snapshot = Out<typeof snapshots.snapshotAnswer>;
export type FileEntry = Out<typeof files.filesAnswer>['files'][number];

type Asks<Schema extends z.ZodType> = { readonly query: In<Schema> };
type Page = Asks<typeof rest.pageQuery>;
type Of<Schema extends z.ZodType> = { readonly answer: Out<Schema> };
type OneSession = Of<typeof sessions.sessionAnswer>;
type OneWorkspace = Of<typeof workspaces.workspaceAnswer>;
type Deleted = Of<typeof projects.deletedAnswer>;
type With<Schema extends z.ZodType> = { readonly body: In<Schema> };
type InProject = Asks<typeof mcp.projectQuery>;

/** Answers with JSON lines, as a stream. */
export const auditExportPath = '/api/audit/export';

const process = '/api/sessions/{id}/processes/{processId}';

export const api = {
  access: route<Of<typeof access.accessAnswer>>()('GET', '/api/access'),
  showAuth: route<Of<typeof auth.authAnswer>>()('GET', '/api/auth'),
  /** For the address bar: it leads to the identity provider. */
  login: route<{ query: In<typeof auth.loginQuery>; answer: undefined }>()('GET', '/api/auth/login'),
  signOut: route<With<typeof auth.logoutBody> & Empty>()('POST', '/api/auth/logout'),
  makeTicket: route<Of<typeof access.ticketAnswer>>()('POST', '/api/tickets'),

  listSessions: route<Asks<typeof rest.listQuery> & Of<typeof sessions.sessionsAnswer>>()(
    'GET',
    '/api/sessions',
  ),
  searchSessions: route<Asks<typeof searches.searchQuery> & Of<typeof searches.searchAnswer>>()(
    'GET',
    '/api/search',
  ),
  makeSession: route<With<typeof rest.createSessionBody> & OneSession>()('POST', '/api/sessions'),
  showSession: route<OneSession>()('GET', '/api/sessions/{id}'),
  showTree: route<Of<typeof trees.treeAnswer>>()('GET', '/api/sessions/{id}/tree'),
  changeSession: route<With<typeof sessionBodies.updateSessionBody> & OneSession>()(
    'PATCH',
    '/api/sessions/{id}',
  ),
  endSession: route<OneSession>()('DELETE', '/api/sessions/{id}'),
  cleanUpSessions: route<With<typeof rest.cleanupBody> & Of<typeof sessions.cleanedAnswer>>()(
    'POST',
    '/api/sessions/cleanup',
  ),
  sendMessage: route<With<typeof userMessage> & Of<typeof conversation.acceptedAnswer>>()(
    'POST',
    '/api/sessions/{id}/messages',
  ),
  readMessages: route<Of<typeof conversation.messagesAnswer>>()('GET', '/api/sessions/{id}/messages'),
  readEvents: route<Asks<typeof rest.eventsQuery> & Of<typeof conversation.eventsAnswer>>()(
    'GET',
    '/api/sessions/{id}/events',
  ),
  listApprovals: route<Asks<typeof approvals.approvalsQuery> & Of<typeof approvals.approvalsAnswer>>()(
    'GET',
    '/api/approvals',
  ),
  readApproval: route<Of<typeof approvals.approvalAnswer>>()('GET', '/api/sessions/{id}/approvals/{callId}'),
  decideCall: route<With<typeof approval> & Of<typeof approvals.decidedAnswer>>()(
    'POST',
    '/api/sessions/{id}/approvals/{callId}',
  ),
  listGrants: route<Of<typeof approvals.grantsAnswer>>()('GET', '/api/sessions/{id}/grants'),
  withdrawGrant: route<Of<typeof approvals.grantAnswer>>()('DELETE', '/api/sessions/{id}/grants/{grantId}'),
  listAudit: route<Asks<typeof access.auditQuery> & Of<typeof access.auditAnswer>>()('GET', '/api/audit'),
  declareCallerTools: route<With<typeof rest.callerToolsBody> & Of<typeof conversation.declaredAnswer>>()(
    'PUT',
    '/api/sessions/{id}/caller-tools',
  ),
  answerCallerTool: route<With<typeof rest.callerAnswerBody> & Of<typeof conversation.answeredAnswer>>()(
    'POST',
    '/api/sessions/{id}/caller-tools/{requestId}',
  ),
  resumeSession: route<OneSession>()('POST', '/api/sessions/{id}/resume'),
  pauseSession: route<OneSession>()('POST', '/api/sessions/{id}/pause'),
  retryTurn: route<Of<typeof conversation.acceptedAnswer>>()('POST', '/api/sessions/{id}/retry'),
  cancelTurn: route<Of<typeof conversation.cancelledAnswer>>()('POST', '/api/sessions/{id}/cancel'),
  readLogs: route<Of<typeof workspaces.logsAnswer>>()('GET', '/api/sessions/{id}/logs'),
  listFiles: route<Asks<typeof files.filesQuery> & Of<typeof files.filesAnswer>>()(
    'GET',
    '/api/sessions/{id}/files',
  ),
  listSnapshots: route<Asks<typeof snapshots.snapshotsQuery> & Of<typeof snapshots.snapshotsAnswer>>()(
    'GET',
    '/api/sessions/{id}/snapshots',
  ),
  makeSnapshot: route<With<typeof snapshots.snapshotBody> & Of<typeof snapshots.snapshotAnswer>>()(
    'POST',
    '/api/sessions/{id}/snapshots',
  ),
  deleteSnapshot: route<Empty>()('DELETE', '/api/sessions/{id}/snapshots/{snapshotId}'),
  restoreSnapshot: route<With<typeof snapshots.restoreBody> & Of<typeof snapshots.snapshotAnswer>>()(
    'POST',
    '/api/sessions/{id}/restore',
  ),
  makeLink: route<With<typeof links.linkBody> & Of<typeof links.linkAnswer>>()(
    'POST',
    '/api/sessions/{id}/links',
  ),
  listPorts: route<Of<typeof workspaces.portsAnswer>>()('GET', '/api/sessions/{id}/ports'),
  leasePort: route<With<typeof rest.leaseBody> & Of<typeof workspaces.portAnswer>>()(
    'POST',
    '/api/sessions/{id}/ports',
  ),

  exec: route<
    With<typeof processes.execBody> & {
      readonly answer: Out<typeof processes.execAnswer> | Out<typeof processes.execContinues>;
    }
  >()('POST', '/api/sessions/{id}/exec'),
  startProcess: route<With<typeof processes.startProcessBody> & Of<typeof processes.startedAnswer>>()(
    'POST',
    '/api/sessions/{id}/processes',
  ),
  listProcesses: route<Of<typeof processes.processesAnswer>>()('GET', '/api/sessions/{id}/processes'),
  showProcess: route<Of<typeof processes.processAnswer>>()('GET', process),
  endProcess: route<Of<typeof processes.processAnswer>>()('DELETE', process),
  signalProcess: route<With<typeof processes.signalBody> & Empty>()('POST', `${process}/signal` as const),
  resizeProcess: route<With<typeof processes.resizeBody> & Empty>()('POST', `${process}/resize` as const),
  runCode: route<With<typeof code.codeBody> & Of<typeof code.codeAnswer>>()(
    'POST',
    '/api/sessions/{id}/code',
  ),
  endContext: route<Asks<typeof code.contextQuery> & Empty>()('DELETE', '/api/sessions/{id}/contexts/{name}'),

  listProjects: route<Page & Of<typeof projects.projectsAnswer>>()('GET', '/api/projects'),
  makeProject: route<With<typeof projectBodies.createProjectBody> & Of<typeof projects.projectAnswer>>()(
    'POST',
    '/api/projects',
  ),
  showProject: route<Asks<typeof projects.showProjectQuery> & Of<typeof projects.projectAnswer>>()(
    'GET',
    '/api/projects/{id}',
  ),
  changeProject: route<With<typeof projectBodies.updateProjectBody> & Of<typeof projects.projectAnswer>>()(
    'PATCH',
    '/api/projects/{id}',
  ),
  deleteProject: route<Deleted>()('DELETE', '/api/projects/{id}'),
  listWorkspaces: route<Page & Of<typeof workspaces.workspacesAnswer>>()(
    'GET',
    '/api/projects/{id}/workspaces',
  ),
  makeWorkspace: route<With<typeof rest.createWorkspaceBody> & OneWorkspace>()(
    'POST',
    '/api/projects/{id}/workspaces',
  ),
  showWorkspace: route<OneWorkspace>()('GET', '/api/projects/{id}/workspaces/{workspace}'),
  deleteWorkspace: route<Deleted>()('DELETE', '/api/projects/{id}/workspaces/{workspace}'),
  listSecrets: route<Of<typeof projects.secretsView>>()('GET', '/api/projects/{id}/secrets'),
  putSecret: route<With<typeof projects.putSecretBody> & Of<typeof projects.secretView>>()(
    'PUT',
    '/api/projects/{id}/secrets/{name}',
  ),
  deleteSecret: route<{ answer: { message: string } }>()('DELETE', '/api/projects/{id}/secrets/{name}'),

  listSchedules: route<Asks<typeof bodies.scheduleQuery> & Of<typeof schedules.schedulesAnswer>>()(
    'GET',
    '/api/schedules',
  ),
  makeSchedule: route<With<typeof bodies.createScheduleBody> & Of<typeof schedules.scheduleAnswer>>()(
    'POST',
    '/api/schedules',
  ),
  showSchedule: route<Of<typeof schedules.scheduleAnswer>>()('GET', '/api/schedules/{id}'),
  changeSchedule: route<With<typeof bodies.changeScheduleBody> & Of<typeof schedules.scheduleAnswer>>()(
    'PATCH',
    '/api/schedules/{id}',
  ),
  deleteSchedule: route<Of<typeof schedules.scheduleAnswer>>()('DELETE', '/api/schedules/{id}'),
  triggerSchedule: route<Of<typeof schedules.triggerAnswer>>()('POST', '/api/schedules/{id}/trigger'),
  scheduleHistory: route<Asks<typeof bodies.historyQuery> & Of<typeof schedules.historyAnswer>>()(
    'GET',
    '/api/schedules/{id}/history',
  ),

  listServers: route<InProject & Of<typeof mcp.serversAnswer>>()('GET', '/api/mcp'),
  serverHealth: route<InProject & Of<typeof mcp.healthAnswer>>()('GET', '/api/mcp/health'),
  addServer: route<InProject & With<typeof mcp.addServerBody> & Of<typeof mcp.savedAnswer>>()(
    'POST',
    '/api/mcp/add',
  ),
  changeServer: route<InProject & With<typeof mcp.changeServerBody> & Of<typeof mcp.savedAnswer>>()(
    'PATCH',
    '/api/mcp/{name}',
  ),
  deleteServer: route<InProject & Of<typeof mcp.removedAnswer>>()('DELETE', '/api/mcp/{name}'),
  enableServer: route<InProject & Of<typeof mcp.messageAnswer>>()('POST', '/api/mcp/{name}/enable'),
  disableServer: route<InProject & Of<typeof mcp.messageAnswer>>()('POST', '/api/mcp/{name}/disable'),
  testServer: route<InProject & Of<typeof mcp.testAnswer>>()('POST', '/api/mcp/{name}/test'),

  listTokens: route<Page & Of<typeof access.tokensAnswer>>()('GET', '/api/tokens'),
  makeToken: route<With<typeof rest.createTokenBody> & Of<typeof access.newTokenAnswer>>()(
    'POST',
    '/api/tokens',
  ),
  revokeToken: route<Of<typeof access.tokenAnswer>>()('DELETE', '/api/tokens/{id}'),

  listWebhooks: route<Asks<typeof hookBodies.webhooksQuery> & Of<typeof hooks.webhooksAnswer>>()(
    'GET',
    '/api/webhooks',
  ),
  makeWebhook: route<With<typeof hookBodies.createWebhookBody> & Of<typeof hooks.newWebhookAnswer>>()(
    'POST',
    '/api/webhooks',
  ),
  showWebhook: route<Of<typeof hooks.webhookAnswer>>()('GET', '/api/webhooks/{id}'),
  changeWebhook: route<With<typeof hookBodies.changeWebhookBody> & Of<typeof hooks.webhookAnswer>>()(
    'PATCH',
    '/api/webhooks/{id}',
  ),
  deleteWebhook: route<Of<typeof hooks.webhookAnswer>>()('DELETE', '/api/webhooks/{id}'),
  testWebhook: route<Of<typeof hooks.webhookTestAnswer>>()('POST', '/api/webhooks/{id}/test'),
  listDeliveries: route<Asks<typeof hookBodies.deliveriesQuery> & Of<typeof hooks.deliveriesAnswer>>()(
    'GET',
    '/api/webhooks/{id}/deliveries',
  ),

  listTemplates: route<Of<typeof deployment.templatesAnswer>>()('GET', '/api/templates'),
  listModels: route<Asks<typeof rest.modelsQuery> & Of<typeof deployment.modelsAnswer>>()(
    'GET',
    '/api/models/available',
  ),
  checkModels: route<Asks<typeof rest.modelChecksQuery> & Of<typeof deployment.modelChecksAnswer>>()(
    'GET',
    '/api/models/check',
  ),
  stats: route<Of<typeof deployment.statsAnswer>>()('GET', '/api/stats'),
  statsHistory: route<{ query: { readonly minutes?: number } } & Of<typeof deployment.statsHistoryAnswer>>()(
    'GET',
    '/api/stats/history',
  ),
} as const;
