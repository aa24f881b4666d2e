/**
 * The requested fields of a project, validated: unknown values are refused by name, and so is a limit outside its
 * bounds.
 */

import { fitsProject, type NamedAgent } from '../../domain/agent-profile.ts';
import type { EffectPolicy } from '../../domain/effect-rule.ts';
import type { Network } from '../../domain/egress-policy.ts';
import { decodeFlavor, type Flavor } from '../../domain/flavor.ts';
import { withRulesOf } from '../../domain/inject-rule.ts';
import { projectInstructionsBytesMax } from '../../domain/limits.ts';
import type { Namespacing } from '../../domain/mcp/server.ts';
import { decodeProvider, type ProviderName, providers, type ThinkingLevel } from '../../domain/model.ts';
import { allowsFlavor, type Project, type ProjectChange } from '../../domain/project.ts';
import type { RuntimeName } from '../../domain/runtime-name.ts';
import type { ApprovalMode } from '../../domain/session.ts';
import { type TreeLimits, treeLimitBounds } from '../../domain/session-tree.ts';
import { AppError } from '../../errors.ts';
import { type KnownTemplates, knownTemplate } from '../sandbox/known-template.ts';

/** `null` removes the existing value. */
type Given<T> = T | null | undefined;

export type ProjectOptions = {
  readonly name?: string | undefined;
  readonly description?: Given<string>;
  readonly provider?: Given<string>;
  readonly model?: Given<string>;
  readonly thinking?: Given<ThinkingLevel>;
  readonly runtime?: Given<RuntimeName>;
  readonly flavor?: Given<string>;
  readonly template?: Given<string>;
  readonly flavorsAllowed?: Given<readonly string[]>;
  readonly approvals?: Given<ApprovalMode>;
  readonly effects?: Given<EffectPolicy>;
  /** Each limit by itself. */
  readonly limits?: Given<{ readonly [Limit in keyof TreeLimits]?: Given<number> }>;
  readonly disabledTools?: Given<readonly string[]>;
  readonly instructions?: Given<string>;
  readonly agents?: Given<readonly NamedAgent[]>;
  readonly mcpNamespacing?: Given<Namespacing>;
  readonly network?: Given<Network>;
};

type Templates = KnownTemplates | undefined;

/** The fields that change in an existing project (`before`), or all fields of a new one. */
export const projectFields = (
  options: ProjectOptions,
  { before = {}, templates }: { readonly before?: Partial<Project>; readonly templates?: Templates } = {},
): ProjectChange => {
  const {
    name,
    description,
    model,
    thinking,
    runtime,
    approvals,
    effects,
    mcpNamespacing,
    disabledTools,
    instructions,
    agents,
    network,
  } = options;
  const flavor = known(options.flavor, knownFlavor);
  const flavorsAllowed = known(options.flavorsAllowed, (names) => [...new Set(names.map(knownFlavor))]);
  refuseOutside(
    flavor === undefined ? before.flavor : flavor,
    flavorsAllowed === undefined ? before.flavorsAllowed : flavorsAllowed,
  );
  refuseTooLong(
    instructions === undefined ? before.instructions : instructions,
    agents === undefined ? before.agents : agents,
  );
  return given({
    name,
    description,
    provider: known(options.provider, knownProvider),
    model,
    thinking,
    runtime,
    flavor,
    template: known(options.template, (name) => knownTemplate(name, templates)),
    flavorsAllowed,
    approvals,
    effects,
    limits: known(options.limits, (limits) => mergedLimits(limits, before.limits)),
    disabledTools: known(disabledTools, (names) => [...new Set(names)]),
    instructions,
    agents,
    mcpNamespacing,
    network: known(network, (next) => withRulesOf(next, before.network)),
  });
};

const given = (change: ProjectChange): ProjectChange =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));

const known = <T, U>(value: Given<T>, decode: (value: T) => U): Given<U> =>
  value === undefined ? undefined : value === null ? null : decode(value);

const refuseOutside = (flavor: Given<Flavor>, allowed: Given<readonly Flavor[]>): void => {
  if (!flavor || !allowed || allowsFlavor({ flavorsAllowed: allowed }, flavor)) return;
  throw new AppError('invalid_flavor', 'flavor: the project does not allow this flavor', {
    suggestions: ['Add it to the allowed flavors, or choose one of them.'],
    recoveryActions: ['correct_arguments'],
  });
};

const refuseTooLong = (instructions: Given<string>, agents: Given<readonly NamedAgent[]>): void => {
  if (fitsProject({ ...(instructions ? { instructions } : {}), ...(agents ? { agents } : {}) })) return;
  throw new AppError(
    'payload_too_large',
    `all instructions of a project have at most ${projectInstructionsBytesMax} bytes`,
    { suggestions: ['Shorten them, or put them into files of the workspace.'] },
  );
};

const knownFlavor = (name: string): Flavor => {
  const flavor = decodeFlavor(name);
  if (flavor !== undefined) return flavor;
  throw new AppError('invalid_flavor', 'flavor: use one of micro, small, medium, large');
};

const knownProvider = (name: string): ProviderName => {
  const provider = decodeProvider(name);
  if (provider !== undefined) return provider;
  throw new AppError('invalid_request', `provider: use one of ${providers.join(', ')}`);
};

const limitNames = {
  recursionDepthMax: 'maxRecursionDepth',
  agentsPerSessionMax: 'maxAgentsPerSession',
  costUsdMax: 'maxCostUsd',
} as const satisfies Record<keyof TreeLimits, string>;

/** Limits that a request does not name stay. */
const mergedLimits = (
  requested: NonNullable<ProjectOptions['limits']>,
  before: TreeLimits = {},
): TreeLimits | null => {
  const merged = Object.entries({ ...before, ...given(requested as ProjectChange) }).filter(
    (entry): entry is [keyof TreeLimits, number] => typeof entry[1] === 'number',
  );
  for (const [limit, value] of merged) requireWithin(limit, value);
  return merged.length === 0 ? null : Object.fromEntries(merged);
};

const requireWithin = (limit: keyof TreeLimits, value: number): void => {
  const { min, max } = treeLimitBounds[limit];
  const isWhole = limit === 'costUsdMax' || Number.isInteger(value);
  if (isWhole && value >= min && value <= max) return;
  const kind = limit === 'costUsdMax' ? 'a number' : 'a whole number';
  throw new AppError('invalid_request', `${limitNames[limit]}: ${kind} from ${min} to ${max}`, {
    suggestions: ['Leave it out to use the setting of the deployment.'],
    recoveryActions: ['correct_arguments'],
  });
};
