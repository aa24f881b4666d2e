/**
 * The arguments and results of the tool `project`, and the use cases' options that they mean.
 */

import * as z from 'zod';
import { flavorNames } from '#shared/domain/flavor.ts';
import {
  clientIdCharactersMax,
  modelNameCharactersMax,
  pageItemsMax,
  projectDescriptionCharactersMax,
} from '#shared/domain/limits.ts';
import { namespacings } from '#shared/domain/mcp/server.ts';
import { providers, thinkingLevels } from '#shared/domain/model.ts';
import { approvalsOf, autonomies } from '#shared/domain/project.ts';
import { runtimeNames } from '#shared/domain/runtime-name.ts';
import { approvalModes } from '#shared/domain/session.ts';
import { boundsText, type TreeLimits } from '#shared/domain/session-tree.ts';
import { effectPolicy } from '../effect-policy.ts';
import { plainName } from '../fields.ts';
import { networkOf } from '../rest/network.ts';
import { networkArgument } from './free-form-fields.ts';
import {
  after,
  closed,
  flavor,
  moment,
  next,
  oneOf,
  orJsonText,
  projectId,
  templateName,
  text,
  toolNames,
  wholeFrom,
} from './tool-fields.ts';

const numberOf = (meaning: string, limit: keyof TreeLimits) =>
  z
    .number({ error: 'a number' })
    .optional()
    .describe(`${meaning}, ${boundsText(limit)}; absent: the operator's.`);

const projectDefaults = {
  description: text(projectDescriptionCharactersMax).optional().describe('Purpose of the project.'),
  provider: oneOf(providers).optional().describe('Model provider of its agents.'),
  model: text(modelNameCharactersMax).optional().describe('Model of its agents.'),
  thinking: oneOf(thinkingLevels).optional().describe('How long their model thinks before it answers.'),
  runtime: oneOf(runtimeNames)
    .optional()
    .describe('Program that runs the agent: the built-in one, or one in the sandbox.'),
  flavor: flavor.optional().describe('Default flavor of its sessions.'),
  template: templateName
    .optional()
    .describe('Default template of its sessions: python, node, or another of options.'),
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
  max_recursion_depth: numberOf('Largest depth of agents that start agents', 'recursionDepthMax'),
  max_agents_per_session: numberOf(
    'Largest number of agents that one session may start',
    'agentsPerSessionMax',
  ),
  max_cost_usd: numberOf('Most that one session may spend on models, in US dollars', 'costUsdMax'),
  disabled_tools: toolNames.optional().describe('Tools that its agents are not offered.'),
  mcp_namespacing: oneOf(namespacings).optional().describe('Naming of the tools of its MCP servers.'),
  network: networkArgument
    .optional()
    .describe('Hosts that its sandboxes may reach: host, *.host or either with :port; absent: none.'),
  effects: orJsonText(effectPolicy())
    .optional()
    .describe('JSON {tools, rules}: rules that decide by effect.'),
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
  network,
  autonomy,
  approvals = autonomy && approvalsOf(autonomy),
  ...options
}: Omit<z.output<typeof createProjectArguments>, 'name'>) => ({
  ...options,
  ...{ flavorsAllowed, disabledTools, mcpNamespacing, approvals },
  ...(network === undefined ? {} : { network: networkOf(network) }),
  ...([recursionDepthMax, agentsPerSessionMax, costUsdMax].every((limit) => limit === undefined)
    ? {}
    : { limits: { recursionDepthMax, agentsPerSessionMax, costUsdMax } }),
});

const clearable = [
  'description',
  'provider',
  'model',
  'thinking',
  'runtime',
  'flavor',
  'template',
  'flavors_allowed',
  'approvals',
  'limits',
  'disabled_tools',
  'mcp_namespacing',
  'network',
  'effects',
] as const;

const updatedFields = closed({
  project_id: projectId,
  name: projectName.optional().describe('Name of the project; it need not be unique.'),
  ...projectDefaults,
  clear: z
    .array(oneOf(clearable))
    .max(clearable.length)
    .optional()
    .describe("Fields to remove; the operator's settings apply again."),
});

/** The fields that an argument changes: a project has one field for all its limits, and two names of its approvals. */
const changedBy = (argument: string): string =>
  ({
    autonomy: 'approvals',
    max_recursion_depth: 'limits',
    max_agents_per_session: 'limits',
    max_cost_usd: 'limits',
  })[argument] ?? argument;

/** A field that is cleared and given would lose the value without a word. */
export const updateProjectArguments = updatedFields.superRefine(({ clear = [], ...given }, context) => {
  const cleared = new Set<string>(clear);
  const both = Object.entries(given).find(
    ([name, value]) => value !== undefined && cleared.has(changedBy(name)),
  );
  if (both === undefined) return;
  const field = changedBy(both[0]);
  const message = `without ${field}, to which ${both[0]} gives a value`;
  context.addIssue({ code: 'custom', path: ['clear'], message });
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

export const projectResult = z.object({
  id: z.string().describe('Id of the project.'),
  name: z.string().describe('Name of the project; it need not be unique.'),
  description: z.string().optional().describe('Purpose of the project.'),
  flavor: z.string().optional().describe('Default flavor of its sessions.'),
  template: z.string().optional().describe('Default template of its sessions.'),
  flavors_allowed: z
    .array(z.string())
    .optional()
    .describe('Flavors that its sessions may have; absent: all.'),
  provider: z.string().optional().describe('Model provider of its agents.'),
  model: z.string().optional().describe('Model of its agents.'),
  thinking: z.string().optional().describe('How long their model thinks before it answers.'),
  runtime: z
    .string()
    .optional()
    .describe('Program that runs the agent: the built-in one, or one in the sandbox.'),
  approvals: z.string().optional().describe('Approvals mode: the calls that run without approval.'),
  max_recursion_depth: z
    .number()
    .optional()
    .describe("Largest depth of agents that start agents; absent: the operator's."),
  max_agents_per_session: z
    .number()
    .optional()
    .describe("Largest number of agents that one session may start; absent: the operator's."),
  max_cost_usd: z
    .number()
    .optional()
    .describe("Most that one session may spend on models, in US dollars; absent: the operator's."),
  disabled_tools: z.array(z.string()).optional().describe('Tools that its agents are not offered.'),
  mcp_namespacing: z.string().optional().describe('Naming of the tools of its MCP servers.'),
  network: z.array(z.string()).optional().describe('Hosts that its sandboxes may reach; absent: none.'),
  inject: z
    .array(z.record(z.string(), z.string()))
    .optional()
    .describe('Secrets in headers of requests to a host, each {host, header, secret}.'),
  effects: z.record(z.string(), z.unknown()).optional().describe('Rules that decide by effect.'),
  secrets: z.array(z.string()).optional().describe('Names of its secrets; absent in lists.'),
  created_at: moment,
});

export const getProjectArguments = closed({ project_id: projectId });

export const listProjectsArguments = closed({
  name_contains: text(clientIdCharactersMax)
    .optional()
    .describe('Part of the name of the listed projects, in upper or lower case.'),
  limit: wholeFrom(1, pageItemsMax).default(pageItemsMax).describe('Largest number of projects.'),
  after: after(clientIdCharactersMax * 4),
});

export const listProjectsResult = z.object({
  projects: z.array(projectResult).describe('Projects, newest first.'),
  next,
});

const count = (meaning: string) => z.int().describe(meaning);

export const projectOptionsArguments = closed({
  project_id: projectId.optional().describe('Id of the project whose secrets are named; absent: none.'),
});

export const projectOptionsResult = z.object({
  defaults: z
    .object({
      model: z.string().describe('Model of agents.'),
      flavor: z.string().describe('Flavor of an execution session.'),
      template: z.string().describe('Language of an execution session.'),
      max_recursion_depth: count('Largest depth of agents that start agents.'),
      max_agents_per_session: count('Largest number of agents that one session may start.'),
      max_cost_usd: z.number().describe('Most that one session may spend on models, in US dollars.'),
    })
    .describe('Values that apply to a project without its own.'),
  models: z
    .array(
      z.object({
        provider: z.string().describe('Provider of the model.'),
        id: z.string().describe('Id of the model at the provider.'),
      }),
    )
    .describe('Default model of each provider; GET /api/models/available lists all models.'),
  templates: z.array(z.string()).describe('Available templates.'),
  flavors: z
    .array(
      z.object({
        name: z.string().describe('Name of the flavor.'),
        cpus: z.number().describe('Number of processors.'),
        memory_mb: z.number().describe('Memory in megabytes.'),
      }),
    )
    .describe('Flavors, smallest first.'),
  token_scopes: z.array(z.string()).describe('Scopes that a token can have.'),
  secrets: z.array(z.string()).describe('Names of the secrets of the project.'),
});
