/** The arguments of `project create`, `update` and `delete`, and the use cases' options that they mean. */

import * as z from 'zod';
import { clientIdCharactersMax } from '#shared/domain/limits.ts';
import { namespacings } from '#shared/domain/mcp/naming.ts';
import { providers } from '#shared/domain/model.ts';
import { approvalsOf, autonomies } from '#shared/domain/project.ts';
import { approvalModes } from '#shared/domain/session.ts';
import { plainName } from '../../plain-name.ts';
import { closed, flavor, flavorNames, oneOf, projectId, template, text, toolNames } from '../tool-fields.ts';

const descriptionCharactersMax = 2000;

const numberOf = (meaning: string) => z.number({ error: 'a number' }).optional().describe(meaning);

const projectDefaults = {
  description: text(descriptionCharactersMax).optional().describe('Purpose of the project.'),
  provider: oneOf(providers).optional().describe('Model provider of its agents.'),
  model: text(clientIdCharactersMax).optional().describe('Model of its agents.'),
  flavor: flavor.optional().describe('Default flavor of its sessions.'),
  template: template.optional().describe('Default language of its sessions.'),
  flavors_allowed: z
    .array(flavor, { error: 'a list of flavors' })
    .min(1, { error: 'a list of at least one flavor' })
    .max(flavorNames.length, { error: `a list of at most ${flavorNames.length} flavors` })
    .optional()
    .describe('Flavors that its sessions may have; absent: all.'),
  autonomy: oneOf(autonomies)
    .optional()
    .describe('Calls that need no approval: all with off, fewer with high, medium and low; absent: none.'),
  approvals: oneOf(approvalModes)
    .optional()
    .describe('Alternative name of autonomy: no call runs without approval with ask, all with auto.'),
  max_recursion_depth: numberOf(
    "Largest depth of agents that start agents, 0 to 10; absent: the operator's.",
  ),
  max_agents_per_session: numberOf(
    "Largest number of agents that one session may start, 1 to 1000; absent: the operator's.",
  ),
  max_cost_usd: numberOf(
    "Most that one session may spend on models, in US dollars, 0 to 100000; absent: the operator's.",
  ),
  disabled_tools: toolNames.optional().describe('Tools that its agents are not offered.'),
  mcp_namespacing: oneOf(namespacings).optional().describe('Naming of the tools of its MCP servers.'),
};

const projectName = plainName(text(clientIdCharactersMax));

export const createProjectArguments = closed({
  name: projectName.describe('Name of the project; it need not be unique.'),
  ...projectDefaults,
});

/** The use cases' options from a tool's arguments. */
export const projectOptionsOfArguments = ({
  flavors_allowed: flavorsAllowed,
  disabled_tools: disabledTools,
  mcp_namespacing: mcpNamespacing,
  max_recursion_depth: recursionDepthMax,
  max_agents_per_session: agentsPerSessionMax,
  max_cost_usd: costUsdMax,
  autonomy,
  approvals = autonomy && approvalsOf(autonomy),
  ...options
}: Omit<z.output<typeof createProjectArguments>, 'name'>) => ({
  ...options,
  ...{ flavorsAllowed, disabledTools, mcpNamespacing, approvals },
  ...([recursionDepthMax, agentsPerSessionMax, costUsdMax].every((limit) => limit === undefined)
    ? {}
    : { limits: { recursionDepthMax, agentsPerSessionMax, costUsdMax } }),
});

const clearable = [
  'description',
  'provider',
  'model',
  'flavor',
  'template',
  'flavors_allowed',
  'approvals',
  'limits',
  'disabled_tools',
  'mcp_namespacing',
] as const;

export const updateProjectArguments = closed({
  project_id: projectId,
  name: projectName.optional().describe('Name of the project; it need not be unique.'),
  ...projectDefaults,
  clear: z
    .array(oneOf(clearable))
    .max(clearable.length)
    .optional()
    .describe("Fields to remove; the operator's settings apply again."),
});

const camelCase: Readonly<Record<string, string>> = {
  flavors_allowed: 'flavorsAllowed',
  disabled_tools: 'disabledTools',
  mcp_namespacing: 'mcpNamespacing',
};

/** Each field as null: an absent one would stay. */
export const clearedFields = (fields: readonly (typeof clearable)[number][] = []) =>
  Object.fromEntries(fields.map((field) => [camelCase[field] ?? field, null]));

export const deleteProjectArguments = closed({ project_id: projectId });
