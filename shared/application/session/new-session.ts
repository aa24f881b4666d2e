/**
 * A new session: its creator's options, its project's settings, the operator's defaults, in that order. Unknown
 * values are refused by name.
 */

import { joinInstructions, type NamedAgent, toolsAllowedBy } from '../../domain/agent-profile.ts';
import { InvariantError } from '../../domain/assert.ts';
import type { EffectPolicy } from '../../domain/effect-rule.ts';
import type { Network } from '../../domain/egress-policy.ts';
import {
  agentFlavor,
  decodeFlavor,
  type Flavor,
  flavors,
  sessionCpusMax,
  sessionMemoryMbMax,
} from '../../domain/flavor.ts';
import type { Lifetimes } from '../../domain/idle-time.ts';
import type { SessionId, WorkspaceId } from '../../domain/ids.ts';
import {
  decodeProvider,
  defaultModels,
  noUsage,
  type ProviderName,
  providers,
  type ThinkingLevel,
} from '../../domain/model.ts';
import type { Principal } from '../../domain/principal.ts';
import { allowsFlavor, type Project } from '../../domain/project.ts';
import { agentRuntimeOf, type RuntimeName } from '../../domain/runtime-name.ts';
import { type ApprovalMode, type Session, type SessionKind, unheldLease } from '../../domain/session.ts';
import type { SessionDetails } from '../../domain/session-details.ts';
import { environmentRefOf } from '../../domain/session-environment.ts';
import { firstLookAt } from '../../domain/session-sweep.ts';
import type { Template } from '../../domain/template.ts';
import type { SliceLimits } from '../../domain/tree-slice.ts';
import { AppError } from '../../errors.ts';
import type { SealedEnvironment } from '../../ports/environments.ts';
import { type KnownTemplates, knownTemplate } from '../sandbox/known-template.ts';
import { chooseNetwork } from './choose-network.ts';
import type { WorkspaceRef } from './resolve-workspace.ts';

export type SessionDefaults = {
  readonly provider: ProviderName;
  readonly model?: string;
  /** The flavor of execution sessions; an agent's is `agentFlavor`. */
  readonly flavor: Flavor;
  readonly template: Template;
  /** Absent: the operator names none. */
  readonly templates?: KnownTemplates;
  readonly lifetimes: Lifetimes;
};

export type SessionOptions = {
  readonly kind?: SessionKind | undefined;
  readonly project?: string | undefined;
  /** Absent: a workspace of its own, which is deleted with it. */
  readonly ref?: WorkspaceRef | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly flavor?: string | undefined;
  readonly template?: string | undefined;
  readonly approvals?: ApprovalMode | undefined;
  /** Absent: its agent's, else its project's. */
  readonly effects?: EffectPolicy | undefined;
  readonly thinking?: ThinkingLevel | undefined;
  /** The program that carries its turns. */
  readonly runtime?: RuntimeName | undefined;
  readonly allowSmallerFlavor?: boolean | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly idleSeconds?: number | undefined;
  readonly lifetimeSeconds?: number | undefined;
  readonly maxCostUsd?: number | undefined;
  /** For it and all below it, beside `maxCostUsd`. */
  readonly slice?: SliceLimits | undefined;
  readonly cwd?: string | undefined;
  /** Null: none; absent: its project's. */
  readonly network?: Network | null | undefined;
  readonly environment?: SealedEnvironment | undefined;
  /** An agent of the project, by name. */
  readonly agent?: string | undefined;
  /** After those of the project and of the agent. */
  readonly instructions?: string | undefined;
  /** Tools its agent is not offered, besides those of its project. */
  readonly disabledTools?: readonly string[] | undefined;
  /** The only tools its agent is offered. */
  readonly allowedTools?: readonly string[] | undefined;
  /** Made by a connection that named no session. */
  readonly isFleeting?: true;
  /** A call that runs from the first moment: the session is `creating` until its sandbox is ready. */
  readonly firstCall?: { readonly key: string; readonly forMs: number };
};

type Asked = {
  readonly principal: Principal;
  readonly options: SessionOptions;
  readonly defaults: SessionDefaults;
};

/** Where neither the request nor the project says. */
const defaultApprovals: ApprovalMode = 'ask';

export const newSession = (
  { now, id }: { readonly now: number; readonly id: SessionId },
  { project, workspace }: { readonly project: Project; readonly workspace: WorkspaceId },
  { principal, options, defaults }: Asked,
): Session => {
  const kind = options.kind ?? 'agent';
  const agent = agentOf(options, project);
  const provider = providerOf(options, project, defaults);
  const fallback = fallbackFlavor(project, kind === 'agent' ? agentFlavor : defaults.flavor);
  const { lifetimes } = defaults;
  const network = chooseNetwork(options.network, project);
  const thinking = options.thinking ?? agent?.thinking ?? project.thinking;
  const status = kind === 'agent' ? 'created' : options.firstCall === undefined ? 'ready' : 'creating';
  const details = {
    ...(options.isFleeting === undefined ? {} : { isFleeting: options.isFleeting }),
    ...detailsOf(options),
    ...(network === undefined ? {} : { network }),
    ...(thinking === undefined ? {} : { thinking }),
  };
  return {
    id,
    owner: principal.owner,
    project: project.id,
    workspace,
    kind,
    status,
    flavor: flavorOf(options, project, fallback),
    template: knownTemplate(options.template ?? project.template ?? defaults.template, defaults.templates),
    provider,
    model: options.model ?? agent?.model ?? modelOf(project, { ...defaults, chosen: provider }),
    approvals: options.approvals ?? agent?.approvals ?? project.approvals ?? defaultApprovals,
    grants: [],
    ...runtimeFor(kind, options, project),
    ...ofProject(project, options),
    ...ofAgent(agent, options, project),
    ...details,
    usage: noUsage,
    costUsd: 0,
    depth: 0,
    allowSmallerFlavor: options.allowSmallerFlavor ?? false,
    createdAt: now,
    lastActiveAt: now,
    runningCalls:
      options.firstCall === undefined ? {} : { [options.firstCall.key]: now + options.firstCall.forMs },
    dueAt: firstLookAt({ kind, status, createdAt: now, ...details }, lifetimes),
    lastSeq: -1,
    workSeq: 0,
    lease: unheldLease,
  };
};

const detailsOf = ({
  labels,
  idleSeconds,
  lifetimeSeconds,
  cwd,
  environment,
  slice,
}: SessionOptions): SessionDetails & Pick<Session, 'cwd' | 'environment' | 'isSliced' | 'hasChildren'> => ({
  // Its tree is made with it.
  ...(slice === undefined ? {} : { isSliced: true, hasChildren: true }),
  ...(labels === undefined || Object.keys(labels).length === 0 ? {} : { labels }),
  ...(idleSeconds === undefined ? {} : { idleMs: idleSeconds * 1000 }),
  ...(lifetimeSeconds === undefined ? {} : { lifetimeMs: lifetimeSeconds * 1000 }),
  ...(cwd === undefined ? {} : { cwd }),
  ...(environment === undefined ? {} : { environment: environmentRefOf(environment) }),
});

const runtimeFor = (
  kind: SessionKind,
  options: SessionOptions,
  project: Project,
): Pick<Session, 'runtime'> => {
  const runtime = kind === 'agent' ? agentRuntimeOf(options.runtime ?? project.runtime) : undefined;
  return runtime === undefined ? {} : { runtime };
};

/** The settings of its agent, stored with the session: a change of the project applies to later ones. */
const ofProject = (
  { limits, disabledTools = [], mcpNamespacing }: Project,
  { disabledTools: unwanted = [], maxCostUsd }: SessionOptions,
): Partial<Session> => {
  const disabled = [...new Set([...disabledTools, ...unwanted])];
  return {
    ...(maxCostUsd === undefined
      ? limits && { limits }
      : { limits: { ...limits, ownCostUsdMax: maxCostUsd } }),
    ...(disabled.length === 0 ? {} : { disabledTools: disabled }),
    ...(mcpNamespacing === undefined ? {} : { mcpNamespacing }),
  };
};

const ofAgent = (
  agent: NamedAgent | undefined,
  options: SessionOptions,
  project: Project,
): Pick<Session, 'agent' | 'allowedTools' | 'effects'> => {
  const effects = options.effects ?? agent?.effects ?? project.effects;
  const allowedTools = toolsAllowedBy(agent?.tools, options.allowedTools);
  return {
    ...(agent === undefined ? {} : { agent: agent.name }),
    ...(allowedTools === undefined ? {} : { allowedTools }),
    ...(effects === undefined ? {} : { effects }),
  };
};

const agentOf = ({ agent: name }: SessionOptions, { agents = [] }: Project): NamedAgent | undefined => {
  if (name === undefined) return undefined;
  const known = agents.find((agent) => agent.name === name);
  if (known !== undefined) return known;
  const names = agents.map((agent) => agent.name).join(', ');
  throw new AppError(
    'invalid_request',
    agents.length === 0
      ? 'agent: the project has no agents'
      : `agent: the agents of the project are ${names}`,
    { suggestions: ['Name one of them, or leave the agent out.'], recoveryActions: ['correct_arguments'] },
  );
};

/** The choices of agent sessions of a project, where their request leaves them open. */
export const choicesInForce = (
  project: Project,
  defaults: Pick<SessionDefaults, 'provider' | 'model' | 'template'>,
) => {
  const provider = project.provider ?? defaults.provider;
  return {
    provider,
    model: modelOf(project, { ...defaults, chosen: provider }),
    flavor: fallbackFlavor(project, agentFlavor),
    template: project.template ?? defaults.template,
    approvals: project.approvals ?? defaultApprovals,
  };
};

/** The text that its agent reads before every conversation; undefined when there is none. */
export const instructionsOf = (project: Project, options: SessionOptions): string | undefined =>
  joinInstructions(project.instructions, agentOf(options, project)?.instructions, options.instructions);

const providerOf = (
  { provider }: SessionOptions,
  project: Project,
  defaults: SessionDefaults,
): ProviderName => {
  if (provider === undefined) return project.provider ?? defaults.provider;
  const known = decodeProvider(provider);
  if (known !== undefined) return known;
  throw new AppError('invalid_request', `provider: use one of ${providers.join(', ')}`);
};

/** A project's model belongs to its provider, the operator's to the operator's. */
const modelOf = (
  project: Project,
  {
    chosen,
    provider,
    model,
  }: Pick<SessionDefaults, 'provider' | 'model'> & { readonly chosen: ProviderName },
): string => {
  const ofItsProject = chosen === (project.provider ?? provider) ? project.model : undefined;
  const ofTheOperator = chosen === provider ? model : undefined;
  return ofItsProject ?? ofTheOperator ?? defaultModels[chosen];
};

/** An unnamed flavor must be allowed: the smallest allowed one, where the usual one is not. */
const fallbackFlavor = (project: Project, usual: Flavor): Flavor => {
  if (project.flavor !== undefined) return project.flavor;
  const known = Object.keys(flavors) as Flavor[];
  return allowsFlavor(project, usual)
    ? usual
    : (known.find((flavor) => allowsFlavor(project, flavor)) ?? usual);
};

const flavorOf = ({ flavor }: SessionOptions, project: Project, fallback: Flavor): Flavor => {
  const known = flavor === undefined ? fallback : decodeFlavor(flavor);
  if (known === undefined)
    throw new AppError('invalid_flavor', `flavor: use one of ${Object.keys(flavors).join(', ')}`, {
      suggestions: ['Leave out the flavor to use the default.'],
      recoveryActions: ['use_small_flavor'],
    });
  if (!allowsFlavor(project, known))
    throw new AppError(
      'invalid_flavor',
      `flavor: this project allows ${project.flavorsAllowed?.join(', ')}`,
      {
        suggestions: ['Use one of these.'],
        recoveryActions: ['retry_with_smaller_flavor'],
      },
    );
  const { cpus, memoryMb } = flavors[known];
  if (cpus > sessionCpusMax || memoryMb > sessionMemoryMbMax)
    throw new InvariantError(`the flavor ${known} is over the cap of a session`);
  return known;
};
