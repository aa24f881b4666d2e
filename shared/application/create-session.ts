/** Makes a session and, when it names none, a workspace of its own. What is unknown is refused by name. */
import {
  decodeFlavor,
  decodeTemplate,
  type Flavor,
  flavors,
  type Template,
  templates,
} from '../domain/flavor.ts';
import type { SessionId, WorkspaceId } from '../domain/ids.ts';
import { decodeProvider, defaultModels, type ProviderName } from '../domain/model.ts';
import { defaultProject, type Principal } from '../domain/principal.ts';
import { type ApprovalMode, type Session, type SessionKind, unheldLease } from '../domain/session.ts';
import { noUsage } from '../domain/turn/calls.ts';
import { AppError } from '../errors.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { WorkspaceStore } from '../ports/workspace-store.ts';
import type { World } from '../ports/world.ts';

export type SessionDefaults = {
  readonly provider: ProviderName;
  readonly model?: string;
  /** Of execution sessions; an agent's is `micro`. */
  readonly flavor: Flavor;
  readonly template: Template;
  readonly idleMs: number;
};

export type SessionWish = {
  readonly kind?: SessionKind | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly flavor?: string | undefined;
  readonly template?: string | undefined;
  readonly approvals?: ApprovalMode | undefined;
};

export type CreatePorts = {
  readonly sessions: SessionStore;
  readonly workspaces: WorkspaceStore;
  readonly world: World;
};

/** The session, or undefined when the id is taken. */
export const createSession = async (
  { sessions, workspaces, world }: CreatePorts,
  {
    id,
    principal,
    wish,
    defaults,
  }: {
    id: SessionId;
    principal: Principal;
    wish: SessionWish;
    defaults: SessionDefaults;
  },
): Promise<Session | undefined> => {
  const createdAt = world.now();
  const kind = wish.kind ?? 'agent';
  const provider = providerOf(wish, defaults);
  const session: Session = {
    id,
    owner: principal.owner,
    project: defaultProject,
    workspace: world.uuid() as WorkspaceId,
    kind,
    status: kind === 'agent' ? 'created' : 'ready',
    flavor: flavorOf(wish, kind === 'agent' ? 'micro' : defaults.flavor),
    template: templateOf(wish, defaults.template),
    provider,
    model: modelOf(wish, defaults, provider),
    approvals: wish.approvals ?? 'ask',
    rememberedTools: [],
    usage: noUsage,
    depth: 0,
    createdAt,
    lastActiveAt: createdAt,
    lastSeq: -1,
    workSeq: 0,
    lease: unheldLease,
  };
  const { owner, project, workspace } = session;
  if ((await sessions.create(session)) === 'exists') return undefined;
  await workspaces.create({ id: workspace, owner, project, createdAt, users: [id] });
  return session;
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

const flavorOf = ({ flavor }: SessionWish, fallback: Flavor): Flavor => {
  if (flavor === undefined) return fallback;
  const known = decodeFlavor(flavor);
  if (known !== undefined) return known;
  throw new AppError('invalid_flavor', `flavor: use one of ${Object.keys(flavors).join(', ')}`, {
    suggestions: ['Leave the flavor out for the default.'],
    recoveryActions: ['use_small_flavor'],
  });
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
