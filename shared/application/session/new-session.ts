/**
 * A new session: its creator's options, its project's settings, the operator's defaults, in that order. Unknown
 * values are refused by name.
 */

import { InvariantError } from '../../domain/assert.ts';
import {
  decodeFlavor,
  decodeTemplate,
  type Flavor,
  flavors,
  sessionCpusMax,
  sessionMemoryMbMax,
  type Template,
  templates,
} from '../../domain/flavor.ts';
import type { SessionId, WorkspaceId } from '../../domain/ids.ts';
import { decodeProvider, defaultModels, type ProviderName, providers } from '../../domain/model.ts';
import type { Principal } from '../../domain/principal.ts';
import { allowsFlavor, type Project } from '../../domain/project.ts';
import { type ApprovalMode, type Session, type SessionKind, unheldLease } from '../../domain/session.ts';
import { idleLimit, type Lifetimes } from '../../domain/session-sweep.ts';
import type { SlotLimits } from '../../domain/slots.ts';
import { noUsage } from '../../domain/turn/call-queue.ts';
import { AppError } from '../../errors.ts';
import type { WorkspaceRef } from './resolve-workspace.ts';

export type SessionDefaults = {
  readonly provider: ProviderName;
  readonly model?: string;
  /** The flavor of execution sessions; an agent's is `micro`. */
  readonly flavor: Flavor;
  readonly template: Template;
  readonly lifetimes: Lifetimes;
  readonly slots: SlotLimits;
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
  readonly allowSmallerFlavor?: boolean | undefined;
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

export const newSession = (
  { now, id }: { readonly now: number; readonly id: SessionId },
  { project, workspace }: { readonly project: Project; readonly workspace: WorkspaceId },
  { principal, options, defaults }: Asked,
): Session => {
  const kind = options.kind ?? 'agent';
  const provider = providerOf(options, project, defaults);
  const fallback = fallbackFlavor(project, kind === 'agent' ? 'micro' : defaults.flavor);
  const { lifetimes } = defaults;
  return {
    id,
    owner: principal.owner,
    project: project.id,
    workspace,
    kind,
    status: kind === 'agent' ? 'created' : options.firstCall === undefined ? 'ready' : 'creating',
    flavor: flavorOf(options, project, fallback),
    template: templateOf(options, project.template ?? defaults.template),
    provider,
    model: modelOf(options, project, { ...defaults, chosen: provider }),
    approvals: options.approvals ?? project.approvals ?? 'ask',
    grants: [],
    ...ofProject(project, options),
    usage: noUsage,
    costUsd: 0,
    depth: 0,
    ...(options.isFleeting === undefined ? {} : { isFleeting: options.isFleeting }),
    allowSmallerFlavor: options.allowSmallerFlavor ?? false,
    createdAt: now,
    lastActiveAt: now,
    runningCalls:
      options.firstCall === undefined ? {} : { [options.firstCall.key]: now + options.firstCall.forMs },
    dueAt: now + (kind === 'agent' ? lifetimes.historyMs : idleLimit({ kind }, lifetimes)),
    lastSeq: -1,
    workSeq: 0,
    lease: unheldLease,
  };
};

/** The settings of its agent, stored with the session: a change of the project applies to later ones. */
const ofProject = (
  { limits, disabledTools = [], mcpNamespacing }: Project,
  { disabledTools: unwanted = [], allowedTools }: SessionOptions,
): Partial<Session> => {
  const disabled = [...new Set([...disabledTools, ...unwanted])];
  return {
    ...(limits === undefined ? {} : { limits }),
    ...(disabled.length === 0 ? {} : { disabledTools: disabled }),
    ...(allowedTools === undefined ? {} : { allowedTools }),
    ...(mcpNamespacing === undefined ? {} : { mcpNamespacing }),
  };
};

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
  options: SessionOptions,
  project: Project,
  { chosen, provider, model }: SessionDefaults & { readonly chosen: ProviderName },
): string => {
  const ofItsProject = chosen === (project.provider ?? provider) ? project.model : undefined;
  const ofTheOperator = chosen === provider ? model : undefined;
  return options.model ?? ofItsProject ?? ofTheOperator ?? defaultModels[chosen];
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
      suggestions: ['Leave the flavor out for the default.'],
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

const templateOf = ({ template }: SessionOptions, fallback: Template): Template => {
  if (template === undefined) return fallback;
  const known = decodeTemplate(template);
  if (known !== undefined) return known;
  throw new AppError('unsupported_language', `template: use one of ${templates.join(', ')}`, {
    suggestions: ['Leave the template out for python.'],
    recoveryActions: ['use_python_template', 'use_node_template'],
  });
};
