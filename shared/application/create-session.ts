/**
 * Makes a session and, when it names none, a workspace of its own. What is unknown is refused by name; an
 * execution session takes its place at once, an agent session with its first message.
 */
import { projectOf } from '../domain/access.ts';
import { InvariantError } from '../domain/assert.ts';
import {
  decodeFlavor,
  decodeTemplate,
  type Flavor,
  flavors,
  sessionCpusMax,
  sessionMemoryMbMax,
  type Template,
  templates,
} from '../domain/flavor.ts';
import type { SessionId, WorkspaceId } from '../domain/ids.ts';
import { decodeProvider, defaultModels, type ProviderName } from '../domain/model.ts';
import { defaultProject, type Principal } from '../domain/principal.ts';
import { allowsFlavor, type Project } from '../domain/project.ts';
import { type PlaceLimits, placesMax } from '../domain/quota.ts';
import type { Workspace } from '../domain/sandbox.ts';
import { type ApprovalMode, type Session, type SessionKind, unheldLease } from '../domain/session.ts';
import { idleLimit, type Lifetimes } from '../domain/session-lifetime.ts';
import { noUsage } from '../domain/turn/calls.ts';
import { AppError } from '../errors.ts';
import type { ProjectStore } from '../ports/project-store.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { World } from '../ports/world.ts';
import { findProject } from './find-project.ts';

export type SessionDefaults = {
  readonly provider: ProviderName;
  readonly model?: string;
  /** Of execution sessions; an agent's is `micro`. */
  readonly flavor: Flavor;
  readonly template: Template;
  readonly lifetimes: Lifetimes;
  readonly places: PlaceLimits;
};

export type SessionWish = {
  readonly kind?: SessionKind | undefined;
  readonly project?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly flavor?: string | undefined;
  readonly template?: string | undefined;
  readonly approvals?: ApprovalMode | undefined;
  readonly allowSmallerFlavor?: boolean | undefined;
  /** A call that runs from the first moment: the session is `creating` until its sandbox is there. */
  readonly firstCall?: { readonly key: string; readonly forMs: number };
};

export type CreatePorts = {
  readonly sessions: SessionStore;
  readonly projects: ProjectStore;
  readonly world: World;
};

export type CreateRequest = {
  readonly id: SessionId;
  readonly principal: Principal;
  readonly wish: SessionWish;
  readonly defaults: SessionDefaults;
};

/** The session, or undefined when the id is taken. Throws `resource_limit_exceeded` when no place is left. */
export const createSession = async (
  ports: CreatePorts,
  request: CreateRequest,
): Promise<Session | undefined> => {
  const project = await workingProject(ports.projects, request.principal, request.wish.project);
  const session = newSession(ports, project, request);
  const { id, owner, workspace, createdAt, kind } = session;
  const made: Workspace = { id: workspace, owner, project: project.id, createdAt, users: [id] };
  const result = await ports.sessions.create(session, {
    workspace: made,
    placesMax: placesMax(kind, request.defaults.places),
  });
  if (result === 'full') throw noPlace(kind, placesMax(kind, request.defaults.places));
  return result === 'exists' ? undefined : session;
};

export const noPlace = (kind: SessionKind, max: number): AppError =>
  new AppError(
    'resource_limit_exceeded',
    `all ${max} ${kind} sessions ${kind === 'execution' ? 'of this owner' : 'of this project'} are in use`,
    {
      facts: { maxSessions: max },
      suggestions: [
        'Stop a session that is no longer needed.',
        'Try again later, or wait with wait_seconds.',
      ],
      recoveryActions: ['stop_session', 'wait_and_retry'],
    },
  );

/** The project a principal may work in: the one it names, its own, or the default. */
const workingProject = (
  projects: ProjectStore,
  principal: Principal,
  wanted: string | undefined,
): Promise<Project> => {
  const id = wanted ?? projectOf(principal.scope) ?? defaultProject;
  return findProject(projects, { id, principal, intent: 'write' });
};

const newSession = (
  { world }: CreatePorts,
  project: Project,
  { id, principal, wish, defaults }: CreateRequest,
): Session => {
  const createdAt = world.now();
  const kind = wish.kind ?? 'agent';
  const provider = providerOf(wish, defaults);
  const fallback = project.flavor ?? (kind === 'agent' ? 'micro' : defaults.flavor);
  const { lifetimes } = defaults;
  return {
    id,
    owner: principal.owner,
    project: project.id,
    workspace: world.uuid() as WorkspaceId,
    kind,
    status: kind === 'agent' ? 'created' : wish.firstCall === undefined ? 'ready' : 'creating',
    flavor: flavorOf(wish, project, fallback),
    template: templateOf(wish, project.template ?? defaults.template),
    provider,
    model: modelOf(wish, defaults, provider),
    approvals: wish.approvals ?? project.approvals ?? 'ask',
    rememberedTools: [],
    usage: noUsage,
    costUsd: 0,
    depth: 0,
    allowSmallerFlavor: wish.allowSmallerFlavor ?? false,
    createdAt,
    lastActiveAt: createdAt,
    runningCalls:
      wish.firstCall === undefined ? {} : { [wish.firstCall.key]: createdAt + wish.firstCall.forMs },
    dueAt: createdAt + (kind === 'agent' ? lifetimes.historyMs : idleLimit({ kind }, lifetimes)),
    lastSeq: -1,
    workSeq: 0,
    lease: unheldLease,
  };
};

const providerOf = ({ provider }: SessionWish, defaults: SessionDefaults): ProviderName => {
  if (provider === undefined) return defaults.provider;
  const known = decodeProvider(provider);
  if (known !== undefined) return known;
  throw new AppError('invalid_request', 'provider: use one of anthropic, openai, gemini, demo');
};

/** The operator's model belongs to the operator's provider. */
const modelOf = (wish: SessionWish, defaults: SessionDefaults, provider: ProviderName): string =>
  wish.model ?? (provider === defaults.provider ? defaults.model : undefined) ?? defaultModels[provider];

const flavorOf = ({ flavor }: SessionWish, project: Project, fallback: Flavor): Flavor => {
  const known = flavor === undefined ? fallback : decodeFlavor(flavor);
  if (known === undefined)
    throw new AppError('invalid_flavor', `flavor: use one of ${Object.keys(flavors).join(', ')}`, {
      suggestions: ['Leave the flavor out for the default.'],
      recoveryActions: ['use_small_flavor'],
    });
  if (!allowsFlavor(project, known))
    throw new AppError(
      'invalid_flavor',
      `flavor: this project allows ${project.flavorsAllowed?.join(', ')}`,
      {
        suggestions: ['Ask for one of these.'],
        recoveryActions: ['retry_with_smaller_flavor'],
      },
    );
  const { cpus, memoryMb } = flavors[known];
  if (cpus > sessionCpusMax || memoryMb > sessionMemoryMbMax)
    throw new InvariantError(`the flavor ${known} is over the cap of a session`);
  return known;
};

const templateOf = ({ template }: SessionWish, fallback: Template): Template => {
  if (template === undefined) return fallback;
  const known = decodeTemplate(template);
  if (known !== undefined) return known;
  throw new AppError('unsupported_language', `template: use one of ${templates.join(', ')}`, {
    suggestions: ['Leave the template out for python.'],
    recoveryActions: ['use_python_template', 'use_node_template'],
  });
};
