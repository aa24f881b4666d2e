/** A project as the tool `project` shows it, and the arguments and results of `get`, `list` and `options`. */
import * as z from 'zod';
import { clientIdCharactersMax, pageItemsMax } from '#shared/domain/limits.ts';
import { after, closed, moment, next, projectId, text } from '../tool-fields.ts';

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

export const listProjectsResult = z.object({
  projects: z.array(projectResult).describe('Newest first.'),
  next,
});

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
