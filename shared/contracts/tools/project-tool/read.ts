/** A project as the tool `project` shows it, and the arguments and results of `get`, `list` and `options`. */
import * as z from 'zod';
import { clientIdCharactersMax, pageItemsMax } from '#shared/domain/limits.ts';
import { after, closed, moment, next, projectId, text } from '../tool-fields.ts';

export const projectResult = z.object({
  id: z.string().describe('Id of the project.'),
  name: z.string().describe('Name of the project; it need not be unique.'),
  description: z.string().optional().describe('Purpose of the project.'),
  flavor: z.string().optional().describe('Default flavor of its sessions.'),
  template: z.string().optional().describe('Default language of its sessions.'),
  flavors_allowed: z
    .array(z.string())
    .optional()
    .describe('Flavors that its sessions may have; absent: all.'),
  provider: z.string().optional().describe('Model provider of its agents.'),
  model: z.string().optional().describe('Model of its agents.'),
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
  secrets: z.array(z.string()).optional().describe('Names of its secrets; absent in lists.'),
  created_at: moment,
});

export const getProjectArguments = closed({ project_id: projectId });

export const listProjectsArguments = closed({
  name_contains: text(clientIdCharactersMax)
    .optional()
    .describe('Part of the name of the listed projects, in upper or lower case.'),
  limit: z
    .int({ error: `a whole number from 1 to ${pageItemsMax}` })
    .min(1, { error: `a whole number from 1 to ${pageItemsMax}` })
    .max(pageItemsMax, { error: `a whole number from 1 to ${pageItemsMax}` })
    .default(pageItemsMax)
    .describe('Largest number of projects.'),
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
  templates: z.array(z.string()).describe('Available languages.'),
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
