/**
 * The settings of a project to be read: what new sessions get and which limits hold, each with where it comes from.
 *
 * Pure. A setting that the project leaves open has the value of the deployment, where the server says that.
 */
import { effectRuleLine } from '#sdk/effect-rules.ts';
import type { Project } from '#sdk/routes.ts';
import { money } from '../../components/format.ts';
import {
  approvalOptions,
  flavorOptions,
  providerName,
  runtimeOptions,
  thinkingOptions,
} from '../../components/session-options.ts';
import { flavorNames, namespacingChoices, runtimeChoices, thinkingChoices } from './project-draft.ts';

export type Fact = {
  readonly name: string;
  readonly text: string;
  /** True: the project says so itself. */
  readonly isOwn: boolean;
  readonly isLong?: true;
};

export type FactGroup = { readonly title: string; readonly facts: readonly Fact[] };

type Choices = readonly { readonly value: string; readonly label: string }[];

const labelOf = (choices: Choices, value: string | undefined): string | undefined =>
  choices.find((choice) => choice.value === value)?.label ?? value;

/** Shown for what neither the project nor the server names. */
const unsaid = 'Deployment default';

const fact = (name: string, own: string | undefined, otherwise: string = unsaid): Fact => ({
  name,
  text: own ?? otherwise,
  isOwn: own !== undefined,
});

const list = (names: readonly string[] | undefined): string | undefined =>
  names === undefined || names.length === 0 ? undefined : names.join(', ');

const numeral = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : String(value);

const dollars = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : money(value);

export const factGroups = (project: Project): readonly FactGroup[] => [
  { title: 'Session defaults', facts: sessionFacts(project) },
  { title: 'Limits', facts: limitFacts(project) },
  { title: 'Agents and network', facts: agentFacts(project) },
];

const sessionFacts = ({ inForce, ...project }: Project): readonly Fact[] => [
  fact(
    'Provider',
    project.provider && providerName(project.provider),
    inForce && providerName(inForce.provider),
  ),
  fact('Model', project.model, inForce?.model),
  fact(
    'Approvals',
    labelOf(approvalOptions, project.approvals),
    labelOf(approvalOptions, inForce?.approvals),
  ),
  fact('Thinking', labelOf(thinkingOptions, project.thinking), thinkingChoices[0]?.label),
  fact('Sandbox size', labelOf(flavorOptions, project.flavor), labelOf(flavorOptions, inForce?.flavor)),
  fact('Template', project.template, inForce?.template),
  fact('Runtime', labelOf(runtimeOptions, project.runtime), runtimeChoices[0]?.label),
  fact(
    'MCP tool names',
    project.mcpNamespacing && labelOf(namespacingChoices, project.mcpNamespacing),
    'Automatic',
  ),
];

const limitFacts = ({ inForce, limits = {}, flavorsAllowed, disabledTools }: Project): readonly Fact[] => [
  fact('Max cost per session tree', dollars(limits.maxCostUsd), dollars(inForce?.maxCostUsd)),
  fact(
    'Max agents per session tree',
    numeral(limits.maxAgentsPerSession),
    numeral(inForce?.maxAgentsPerSession),
  ),
  fact('Max nesting depth', numeral(limits.maxRecursionDepth), numeral(inForce?.maxRecursionDepth)),
  fact('Allowed sizes', list(flavorsAllowed), flavorNames.join(', ')),
  fact('Disabled tools', list(disabledTools), 'None'),
];

const agentFacts = ({ agents, instructions, effects, network }: Project): readonly Fact[] => [
  fact('Agents', list(agents?.map(({ name }) => name)), 'None'),
  fact('Hosts that sandboxes may reach', network === 'none' ? undefined : list(network.allow), 'None'),
  fact('Tools decided by effect', list(effects?.tools), 'None'),
  fact('Rules over effects', list(effects?.rules?.map(effectRuleLine)), 'None'),
  { ...fact('Instructions', instructions, 'None'), isLong: true },
];
