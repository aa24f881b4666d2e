/**
 * A project as REST shows it, its secrets by name alone, and a request's fields as the options of the use cases.
 */

import * as z from 'zod';
import type { NamedAgent } from '#shared/domain/agent-profile.ts';
import { secretValueBytesMax } from '#shared/domain/limits.ts';
import { namespacings } from '#shared/domain/mcp/server.ts';
import { thinkingLevels } from '#shared/domain/model.ts';
import { approvalsOf, isSecretValue, type Project } from '#shared/domain/project.ts';
import { runtimeNames } from '#shared/domain/runtime-name.ts';
import { approvalModes } from '#shared/domain/session.ts';
import type { TreeLimits } from '#shared/domain/session-tree.ts';
import { effectPolicy } from '../effect-policy.ts';
import { iso, queryFlag } from '../fields.ts';
import { network, networkOf, networkView } from './network.ts';
import type { updateProjectBody } from './project-bodies.ts';
import { flavorName, providerName, templateName } from './session-view.ts';

const limits = {
  maxRecursionDepth: z.number().int().optional(),
  maxAgentsPerSession: z.number().int().optional(),
  maxCostUsd: z.number().optional(),
};

export const projectAnswer = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string().optional(),
    provider: providerName.optional(),
    model: z.string().optional(),
    thinking: z.enum(thinkingLevels).optional(),
    runtime: z.enum(runtimeNames).optional(),
    flavor: flavorName.optional(),
    template: templateName.optional(),
    approvals: z.enum(approvalModes).optional(),
    effects: effectPolicy().optional().describe('Rules over effects.'),
    flavorsAllowed: z.array(flavorName).optional(),
    limits: z
      .object(limits)
      .optional()
      .describe("Limits that differ from the operator's; each is beside it, too."),
    ...limits,
    disabledTools: z.array(z.string()).optional(),
    mcpNamespacing: z.enum(namespacings).optional(),
    instructions: z.string().optional().describe('Absent in lists.'),
    agents: z
      .array(
        z.object({
          name: z.string(),
          instructions: z.string().exactOptional().describe('Absent in lists.'),
          model: z.string().exactOptional(),
          tools: z.array(z.string()).exactOptional(),
          approvals: z.enum(approvalModes).exactOptional(),
          effects: effectPolicy().exactOptional(),
          thinking: z.enum(thinkingLevels).exactOptional(),
        }),
      )
      .optional(),
    network: network.describe('Hosts that sandboxes of the project may reach, or none.'),
    secrets: z.array(z.string()).optional().describe('Names of the secrets of the project; absent in lists.'),
    inForce: z
      .object({
        provider: providerName,
        model: z.string(),
        flavor: flavorName,
        template: templateName,
        approvals: z.enum(approvalModes),
        maxRecursionDepth: z.number().int(),
        maxAgentsPerSession: z.number().int(),
        maxCostUsd: z.number(),
      })
      .optional()
      .describe('With in_force: settings that new agent sessions get.'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Project' });

export const showProjectQuery = z.object({
  in_force: queryFlag
    .prefault('0')
    .describe('True: include the settings that new agent sessions get, with the defaults of the deployment.'),
});

export const projectsAnswer = z.object({ projects: z.array(projectAnswer), next: z.string().optional() });

export const deletedAnswer = z.object({ id: z.uuid(), message: z.string() });

export const projectView = ({
  owner: _,
  createdAt,
  flavorsAllowed,
  disabledTools,
  agents,
  limits,
  network: stored,
  ...project
}: Project): z.output<typeof projectAnswer> => ({
  ...project,
  network: networkView(stored),
  ...(flavorsAllowed === undefined ? {} : { flavorsAllowed: [...flavorsAllowed] }),
  ...(disabledTools === undefined ? {} : { disabledTools: [...disabledTools] }),
  ...(agents === undefined ? {} : { agents: agents.map(agentView) }),
  ...(limits === undefined ? {} : { limits: limitsView(limits), ...limitsView(limits) }),
  createdAt: iso(createdAt),
});

const limitsView = (limits: TreeLimits) => ({
  maxRecursionDepth: limits.recursionDepthMax,
  maxAgentsPerSession: limits.agentsPerSessionMax,
  maxCostUsd: limits.costUsdMax,
});

/** The choices and limits of new agent sessions. */
export const inForceView = <Choices extends object>(choices: Choices, limits: Required<TreeLimits>) => ({
  ...choices,
  maxRecursionDepth: limits.recursionDepthMax,
  maxAgentsPerSession: limits.agentsPerSessionMax,
  maxCostUsd: limits.costUsdMax,
});

const agentView = ({ tools, ...agent }: NamedAgent) => ({
  ...agent,
  ...(tools === undefined ? {} : { tools: [...tools] }),
});

/** As in lists: without the long texts. */
export const listedProjectView = ({
  instructions: _,
  ...project
}: Project): z.output<typeof projectAnswer> => {
  const { agents, ...view } = projectView(project);
  return {
    ...view,
    ...(agents === undefined ? {} : { agents: agents.map(({ instructions: __, ...agent }) => agent) }),
  };
};

/** `approvals` and `autonomy` are two names of one setting; the first counts where both are given. */
export const projectOptionsOf = <Body extends z.output<typeof updateProjectBody>>({
  autonomy,
  limits,
  maxRecursionDepth = limits?.maxRecursionDepth,
  maxAgentsPerSession = limits?.maxAgentsPerSession,
  maxCostUsd = limits?.maxCostUsd,
  network: given,
  ...options
}: Body) => ({
  ...options,
  ...(given === undefined ? {} : { network: given && networkOf(given) }),
  ...(options.approvals === undefined && autonomy !== undefined
    ? { approvals: autonomy === null ? null : approvalsOf(autonomy) }
    : {}),
  ...limitsGiven(limits, {
    recursionDepthMax: maxRecursionDepth,
    agentsPerSessionMax: maxAgentsPerSession,
    costUsdMax: maxCostUsd,
  }),
});

/** `null` in place of all limits removes them all. */
const limitsGiven = <Each extends object>(limits: object | null | undefined, each: Each) => {
  if (limits === null) return { limits };
  const isGiven = limits !== undefined || Object.values(each).some((limit) => limit !== undefined);
  return isGiven ? { limits: each } : {};
};

export const putSecretBody = z.object({
  value: z
    .string()
    .refine(isSecretValue, `a secret has 1 to ${secretValueBytesMax} bytes of text and no NUL`),
});

export const secretView = z.object({ name: z.string() });
export const secretsView = z.object({ secrets: z.array(secretView) });
export const removedView = z.object({ message: z.string() });
