/** The arguments and results of the tools `project` and `token`. */
import * as z from 'zod';
import { clientIdCharactersMax, pageItemsMax, tokenSecondsMax, toolNamesMax } from '#shared/domain/limits.ts';
import { namespacings } from '#shared/domain/mcp/naming.ts';
import { approvalsOf, autonomies } from '#shared/domain/project.ts';
import { approvalModes } from '#shared/domain/session.ts';
import {
  after,
  closed,
  flavor,
  flavorNames,
  moment,
  next,
  oneOf,
  projectId,
  template,
  text,
} from './tool-fields.ts';

const descriptionCharactersMax = 2000;

const toolNames = z
  .array(text(clientIdCharactersMax), { error: 'a list of names of tools' })
  .max(toolNamesMax, { error: `a list of at most ${toolNamesMax} names` });
const numberOf = (meaning: string) => z.number({ error: 'a number' }).optional().describe(meaning);

const projectDefaults = {
  description: text(descriptionCharactersMax).optional().describe('What it is for.'),
  provider: oneOf(['anthropic', 'openai', 'gemini', 'demo'])
    .optional()
    .describe('Whose model its agents think with.'),
  model: text(clientIdCharactersMax).optional().describe('What its agents think with.'),
  flavor: flavor.optional().describe('The size of its sessions that ask for none.'),
  template: template.optional().describe('The language of its sessions that ask for none.'),
  flavors_allowed: z
    .array(flavor, { error: 'a list of flavors' })
    .min(1, { error: 'a list of at least one flavor' })
    .max(flavorNames.length, { error: `a list of at most ${flavorNames.length} flavors` })
    .optional()
    .describe('The sizes that its sessions may have; absent: all.'),
  autonomy: oneOf(autonomies)
    .optional()
    .describe(
      'Which calls its agents make without a human: off all, high, medium and low fewer; absent: none.',
    ),
  approvals: oneOf(approvalModes).optional().describe('The same in our words: ask none … auto all.'),
  max_recursion_depth: numberOf("How deep its agents may start agents, 0 to 10; absent: the operator's."),
  max_agents_per_session: numberOf(
    "How many agents one session may start, 1 to 1000; absent: the operator's.",
  ),
  max_cost_usd: numberOf("What one session may spend on models, 0 to 100000; absent: the operator's."),
  disabled_tools: toolNames.optional().describe('Tools that its agents are not offered.'),
  mcp_namespacing: oneOf(namespacings).optional().describe('How tools of its MCP servers are named.'),
};

const projectName = text(clientIdCharactersMax);

export const createProjectArguments = closed({
  name: projectName.describe('The name of a project; it need not be unique.'),
  ...projectDefaults,
});

/** What a tool's arguments mean to the use cases. */
export const projectWishOfArguments = ({
  flavors_allowed: flavorsAllowed,
  disabled_tools: disabledTools,
  mcp_namespacing: mcpNamespacing,
  max_recursion_depth: recursionDepthMax,
  max_agents_per_session: agentsPerSessionMax,
  max_cost_usd: costUsdMax,
  autonomy,
  approvals = autonomy && approvalsOf(autonomy),
  ...wish
}: Omit<z.output<typeof createProjectArguments>, 'name'>) => ({
  ...wish,
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
  name: projectName.optional().describe('The name of a project; it need not be unique.'),
  ...projectDefaults,
  clear: z
    .array(oneOf(clearable))
    .max(clearable.length)
    .optional()
    .describe('Fields to take away, so that the operator decides again.'),
});

const camelCase: Readonly<Record<string, string>> = {
  flavors_allowed: 'flavorsAllowed',
  disabled_tools: 'disabledTools',
  mcp_namespacing: 'mcpNamespacing',
};

/** Each is given as null: an absent one would stay. */
export const clearedFields = (fields: readonly (typeof clearable)[number][] = []) =>
  Object.fromEntries(fields.map((field) => [camelCase[field] ?? field, null]));

export const deleteProjectArguments = closed({ project_id: projectId });
export const deletedResult = z.object({
  id: z.string().describe('What is gone.'),
  message: z.string().describe('The same for a person.'),
});

export const getProjectArguments = closed({ project_id: projectId });
export const listProjectsArguments = closed({
  name_contains: text(clientIdCharactersMax)
    .optional()
    .describe('Only those whose name has this in it, in any case.'),
  limit: z
    .int({ error: `a whole number from 1 to ${pageItemsMax}` })
    .min(1, { error: `a whole number from 1 to ${pageItemsMax}` })
    .max(pageItemsMax, { error: `a whole number from 1 to ${pageItemsMax}` })
    .default(pageItemsMax)
    .describe('How many at most.'),
  after: after(clientIdCharactersMax * 4),
});

export const projectResult = z.object({
  id: z.string().describe('Its id.'),
  name: z.string().describe('Its name; others may have the same.'),
  description: z.string().optional().describe('What it is for.'),
  flavor: z.string().optional().describe('The size of its sessions that ask for none.'),
  template: z.string().optional().describe('The language of its sessions that ask for none.'),
  flavors_allowed: z.array(z.string()).optional().describe('The sizes its sessions may have; absent: all.'),
  provider: z.string().optional().describe('Whose model its agents think with.'),
  model: z.string().optional().describe('What its agents think with.'),
  approvals: z.string().optional().describe('Which calls its agents make without a human.'),
  max_recursion_depth: z.number().optional().describe("Absent: the operator's."),
  max_agents_per_session: z.number().optional().describe("Absent: the operator's."),
  max_cost_usd: z.number().optional().describe("Absent: the operator's."),
  disabled_tools: z.array(z.string()).optional().describe('Tools that its agents are not offered.'),
  mcp_namespacing: z.string().optional().describe('How tools of its MCP servers are named.'),
  secrets: z.array(z.string()).optional().describe('The names of its secrets, where one project is shown.'),
  created_at: moment,
});
export const listProjectsResult = z.object({
  projects: z.array(projectResult).describe('Newest first.'),
  next,
});

export const createTokenArguments = closed({
  name: text(clientIdCharactersMax).describe('What the token is for.'),
  scope: text(64).describe('admin, admin:ro, project:<uuid> or project:<uuid>:ro.'),
  expires_in_seconds: z
    .int({ error: `a whole number from 1 to ${tokenSecondsMax}` })
    .min(1, { error: `a whole number from 1 to ${tokenSecondsMax}` })
    .max(tokenSecondsMax, { error: `a whole number from 1 to ${tokenSecondsMax}` })
    .optional()
    .describe('Seconds until it no longer holds; absent: it holds until it is revoked.'),
});

export const createTokenResult = z.object({
  id: z.string().describe('Its id.'),
  token: z.string().describe('The token: shown now and never again.'),
  scope: z.string().describe('What it may do.'),
});

export const listTokensArguments = closed({ after: after(256) });

export const tokenResult = z.object({
  id: z.string().describe('Its id.'),
  name: z.string().describe('What it is for.'),
  scope: z.string().describe('What it may do.'),
  token: z.string().describe('Masked.'),
  created_at: moment,
  expires_at: moment.optional(),
});

export const listTokensResult = z.object({
  tokens: z.array(tokenResult).describe('Newest first.'),
  next,
});

export const revokeTokenArguments = closed({ token_id: text(64).describe('The id of a token.') });

const count = (meaning: string) => z.int().describe(meaning);

export const projectOptionsArguments = closed({
  project_id: projectId.optional().describe('The project whose secrets are named; absent: none are.'),
});

export const projectOptionsResult = z.object({
  defaults: z
    .object({
      model: z.string().describe('What agents think with.'),
      flavor: z.string().describe('The size of an execution session.'),
      template: z.string().describe('The language of an execution session.'),
      max_recursion_depth: count('How deep agents may start agents.'),
      max_agents_per_session: count('How many agents one session may start.'),
      max_cost_usd: z.number().describe('What one session may spend on models, in US dollars.'),
    })
    .describe('What holds where a project says nothing.'),
  models: z
    .array(
      z.object({
        provider: z.string().describe('Who serves it.'),
        id: z.string().describe('Its name there.'),
      }),
    )
    .describe('The default of each provider; all that a provider has are at GET /api/models/available.'),
  templates: z.array(z.string()).describe('Languages.'),
  flavors: z
    .array(
      z.object({
        name: z.string().describe('Its name.'),
        cpus: z.number().describe('Processors.'),
        memory_mb: z.number().describe('Megabytes of memory.'),
      }),
    )
    .describe('Sizes, smallest first.'),
  token_scopes: z.array(z.string()).describe('What tokens may be made for.'),
  secrets: z.array(z.string()).describe('Names only.'),
});
