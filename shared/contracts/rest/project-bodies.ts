/** The bodies that make and change a project. A field that is null is removed. */
import * as z from 'zod';
import { hasDistinctNames } from '#shared/domain/agent-profile.ts';
import { flavorNames } from '#shared/domain/flavor.ts';
import {
  clientIdCharactersMax,
  projectAgentsMax,
  projectDescriptionCharactersMax,
  toolNamesMax,
} from '#shared/domain/limits.ts';
import { namespacings } from '#shared/domain/mcp/server.ts';
import { providers } from '#shared/domain/model.ts';
import { autonomies } from '#shared/domain/project.ts';
import { boundsText } from '#shared/domain/session-tree.ts';
import { effectPolicy } from '../effect-policy.ts';
import { plainName } from '../fields.ts';
import { approvals, instructions, name, toolName } from './common-fields.ts';
import { network as networkSchema } from './network.ts';
import { runtime, thinking } from './session-bodies.ts';

const projectName = plainName(z.string().min(1).max(clientIdCharactersMax));
const limits = {
  maxRecursionDepth: z
    .number()
    .nullish()
    .describe(`Largest depth of agents that start agents, ${boundsText('recursionDepthMax')}.`),
  maxAgentsPerSession: z
    .number()
    .nullish()
    .describe(`Largest number of agents that one session may start, ${boundsText('agentsPerSessionMax')}.`),
  maxCostUsd: z
    .number()
    .nullish()
    .describe(`Most that one session may spend on models, in US dollars, ${boundsText('costUsdMax')}.`),
};

const projectDefaults = z.object({
  description: z.string().max(projectDescriptionCharactersMax).nullish(),
  provider: name.nullish().describe(`Model provider: ${providers.join(', ')}.`),
  model: name.min(1).nullish(),
  thinking: thinking.nullish(),
  runtime: runtime.nullish().describe('Program that carries the turns of its sessions.'),
  flavor: name.nullish(),
  template: name.nullish(),
  flavorsAllowed: z
    .array(name)
    .min(1)
    .max(flavorNames.length)
    .nullish()
    .describe('Flavors that sessions of the project may have.'),
  approvals: approvals.nullish(),
  effects: effectPolicy()
    .nullish()
    .describe('Rules over effects; they replace the ones before. An agent has its own instead.'),
  autonomy: z
    .enum(autonomies)
    .nullish()
    .describe('Alternative name of `approvals`: `off` means `auto`, the other values are the same.'),
  limits: z
    .object(limits)
    .nullish()
    .describe("Limits of the project; an absent one is the operator's. Each may be given beside it, too."),
  ...limits,
  disabledTools: z
    .array(toolName)
    .max(toolNamesMax)
    .nullish()
    .describe('Tools that agents of the project are not offered.'),
  instructions: instructions
    .nullish()
    .describe('Text that agents of the project read before every conversation.'),
  agents: z
    .array(
      z.object({
        name: plainName(z.string().min(1).max(clientIdCharactersMax)),
        instructions: instructions.exactOptional(),
        model: name.min(1).exactOptional(),
        tools: z
          .array(toolName)
          .max(toolNamesMax)
          .exactOptional()
          .describe('The only tools that it is offered.'),
        approvals: approvals.exactOptional(),
        effects: effectPolicy().exactOptional(),
        thinking: thinking.exactOptional(),
      }),
    )
    .max(projectAgentsMax)
    .refine(hasDistinctNames, 'has each name once')
    .nullish()
    .describe('Agents that a session of the project can be made with; the list replaces the one before.'),
  mcpNamespacing: z.enum(namespacings).nullish(),
  network: networkSchema.nullish().describe('Hosts that sandboxes of the project may reach, or none.'),
});

type LimitName = keyof typeof limits;
type GivenLimits = { readonly [Name in LimitName]?: number | null | undefined };
type Limited = GivenLimits & { readonly limits?: GivenLimits | null | undefined };

/** A limit has two places; a body may use both if they say the same. */
const refuseTwoValues = (body: Limited, context: z.RefinementCtx): void => {
  for (const name of Object.keys(limits) as LimitName[]) {
    const within = body.limits === null ? null : body.limits?.[name];
    const beside = body[name];
    if (within !== undefined && beside !== undefined && within !== beside)
      context.addIssue({ code: 'custom', path: [name], message: `must not differ from limits.${name}` });
  }
};

export const createProjectBody = z
  .object({ name: projectName, ...projectDefaults.shape })
  .superRefine(refuseTwoValues);

export const updateProjectBody = z
  .object({ name: projectName.optional(), ...projectDefaults.shape })
  .superRefine(refuseTwoValues);
