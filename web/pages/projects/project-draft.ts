/**
 * Draft of the project form: options, values, validation and request body. Pure.
 *
 * The form holds texts; an empty text clears the setting, and the deployment default applies.
 */

import type { Project } from '#sdk/routes.ts';
import type { flavors } from '#shared/domain/flavor.ts';
import { changedFields } from '../../api/changed-fields.ts';
import {
  approvalOptions,
  flavorOptions,
  providerOptions,
  runtimeOptions,
  thinkingOptions,
} from '../../components/session-options.ts';
import { type EffectDraft, effectDraftOf, effectProblem, effectsOfDraft } from './project-effects.ts';
import { type NetworkDraft, networkDraftOf, networkOfDraft, networkProblems } from './project-network.ts';

type Flavor = keyof typeof flavors;
export const flavorNames = ['micro', 'small', 'medium', 'large'] as const satisfies readonly Flavor[];

export type ProjectDraft = {
  name: string;
  description: string;
  provider: string;
  model: string;
  flavor: string;
  template: string;
  approvals: string;
  effectRules: EffectDraft['effectRules'];
  effectTools: EffectDraft['effectTools'];
  thinking: string;
  runtime: string;
  flavorsAllowed: readonly Flavor[];
  maxRecursionDepth: string;
  maxAgentsPerSession: string;
  maxCostUsd: string;
  instructions: string;
  agents: AgentDraft[];
  disabledTools: string;
  mcpNamespacing: string;
  network: NetworkDraft;
};

export type AgentDraft = {
  name: string;
  instructions: string;
  model: string;
  approvals: string;
  effectRules: EffectDraft['effectRules'];
  effectTools: EffectDraft['effectTools'];
  thinking: string;
  tools: string;
};

export const newAgent = (): AgentDraft => ({
  name: '',
  instructions: '',
  model: '',
  approvals: '',
  effectRules: [],
  effectTools: [],
  thinking: '',
  tools: '',
});

export const draftOf = (project?: Project): ProjectDraft => ({
  name: project?.name ?? '',
  description: project?.description ?? '',
  provider: project?.provider ?? '',
  model: project?.model ?? '',
  flavor: project?.flavor ?? '',
  template: project?.template ?? '',
  approvals: project?.approvals ?? '',
  ...effectDraftOf(project?.effects),
  thinking: project?.thinking ?? '',
  runtime: project?.runtime ?? '',
  flavorsAllowed: project?.flavorsAllowed ?? flavorNames,
  maxRecursionDepth: textOf(project?.limits?.maxRecursionDepth),
  maxAgentsPerSession: textOf(project?.limits?.maxAgentsPerSession),
  maxCostUsd: textOf(project?.limits?.maxCostUsd),
  instructions: project?.instructions ?? '',
  agents: (project?.agents ?? []).map(({ tools = [], effects, ...agent }) => ({
    ...newAgent(),
    ...agent,
    ...effectDraftOf(effects),
    tools: tools.join('\n'),
  })),
  disabledTools: (project?.disabledTools ?? []).join('\n'),
  mcpNamespacing: project?.mcpNamespacing ?? '',
  network: networkDraftOf(project?.network),
});

const textOf = (value: number | undefined): string => (value === undefined ? '' : String(value));

export type DraftProblems = Partial<Record<keyof ProjectDraft | 'inject', string>>;

type Bound = { readonly min: number; readonly max: number; readonly isWhole: boolean };
const limitBounds = {
  maxRecursionDepth: { min: 0, max: 10, isWhole: true },
  maxAgentsPerSession: { min: 1, max: 1000, isWhole: true },
  maxCostUsd: { min: 0, max: 100_000, isWhole: false },
} as const satisfies Partial<Record<keyof ProjectDraft, Bound>>;

export const problemsOf = (draft: ProjectDraft): DraftProblems => {
  const limits = (['maxRecursionDepth', 'maxAgentsPerSession', 'maxCostUsd'] as const).flatMap((limit) => {
    const problem = limitProblem(draft[limit], limitBounds[limit]);
    return problem === undefined ? [] : [[limit, problem] as const];
  });
  return {
    ...(draft.name.trim() === '' ? { name: 'Enter a name.' } : {}),
    ...effectProblem(draft),
    ...agentsProblem(draft.agents),
    ...(draft.flavorsAllowed.length === 0 ? { flavorsAllowed: 'Allow at least one size.' } : {}),
    ...(draft.flavor !== '' && !draft.flavorsAllowed.some((flavor) => flavor === draft.flavor)
      ? { flavor: 'This size is not allowed below.' }
      : {}),
    ...networkProblems(draft.network),
    ...Object.fromEntries(limits),
  };
};

const agentsProblem = (agents: readonly AgentDraft[]): DraftProblems => {
  const names = agents.map(({ name }) => name.trim());
  if (names.includes('')) return { agents: 'Each agent needs a name.' };
  if (new Set(names).size !== names.length) return { agents: 'Two agents have the same name.' };
  const problems = agents.flatMap((agent) => {
    const { effectRules: problem } = effectProblem(agent);
    return problem === undefined ? [] : [`${agent.name.trim()}: ${problem}`];
  });
  return problems[0] === undefined ? {} : { agents: problems[0] };
};

const limitProblem = (text: string, { min, max, isWhole }: Bound): string | undefined => {
  if (text.trim() === '') return undefined;
  const value = Number(text);
  const isFine = value >= min && value <= max && (!isWhole || Number.isInteger(value));
  return isFine ? undefined : `Enter ${isWhole ? 'a whole number' : 'a number'} from ${min} to ${max}.`;
};

export const bodyOf = (draft: ProjectDraft) => ({
  name: draft.name.trim(),
  description: orNull(draft.description),
  provider: orNull(draft.provider),
  model: orNull(draft.model),
  flavor: orNull(draft.flavor),
  template: orNull(draft.template),
  approvals: orNull(draft.approvals) as Project['approvals'] | null,
  effects: effectsOfDraft(draft),
  thinking: orNull(draft.thinking) as Project['thinking'] | null,
  runtime: orNull(draft.runtime) as Project['runtime'] | null,
  flavorsAllowed: draft.flavorsAllowed.length === flavorNames.length ? null : [...draft.flavorsAllowed],
  limits: {
    maxRecursionDepth: numberOrNull(draft.maxRecursionDepth),
    maxAgentsPerSession: numberOrNull(draft.maxAgentsPerSession),
    maxCostUsd: numberOrNull(draft.maxCostUsd),
  },
  instructions: orNull(draft.instructions),
  agents: draft.agents.length === 0 ? null : draft.agents.map(agentOf),
  disabledTools: listOrNull(draft.disabledTools),
  mcpNamespacing: orNull(draft.mcpNamespacing) as Project['mcpNamespacing'] | null,
  network: networkOfDraft(draft.network),
});

/** Changed fields; of the limits the changed ones alone, since each is stored for itself. */
export const changeOf = (before: ProjectDraft, after: ProjectDraft) => {
  const [was, is] = [bodyOf(before), bodyOf(after)];
  const { limits, ...change } = changedFields(was, is);
  return limits === undefined ? change : { ...change, limits: changedFields(was.limits, is.limits) };
};

type Agent = NonNullable<Project['agents']>[number];

const agentOf = (agent: AgentDraft): Agent => {
  const { name, instructions, model, approvals, thinking, tools } = agent;
  const names = listOrNull(tools);
  const effects = effectsOfDraft(agent);
  return {
    name: name.trim(),
    ...(instructions.trim() === '' ? {} : { instructions: instructions.trim() }),
    ...(model.trim() === '' ? {} : { model: model.trim() }),
    ...(approvals === '' ? {} : { approvals: approvals as NonNullable<Agent['approvals']> }),
    ...(thinking === '' ? {} : { thinking: thinking as NonNullable<Agent['thinking']> }),
    ...(effects === null ? {} : { effects }),
    ...(names === null ? {} : { tools: names }),
  };
};

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());
const numberOrNull = (text: string): number | null => (text.trim() === '' ? null : Number(text));
const listOrNull = (text: string): string[] | null => {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  return names.length === 0 ? null : [...new Set(names)];
};

export const byDefault = { value: '', label: 'Deployment default' } as const;

export const providerChoices = [byDefault, ...providerOptions];
export const flavorChoices = [byDefault, ...flavorOptions];

export const runtimeChoices = [{ value: '', label: 'Built-in' }, ...runtimeOptions];
export const thinkingChoices = [{ value: '', label: 'Model default' }, ...thinkingOptions];

export const namespacingChoices = [
  { value: '', label: 'Default: automatic' },
  { value: 'auto', label: 'Automatic: prefix when needed' },
  { value: 'prefix', label: 'Always: prefix with the server name' },
  { value: 'none', label: 'Only on conflicts' },
] as const;

export const approvalChoices = [byDefault, ...approvalOptions];
