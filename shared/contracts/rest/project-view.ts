/**
 * A project as REST shows it, its secrets by name alone, and a request's fields as the options of the use cases.
 */

import * as z from 'zod';
import { secretValueBytesMax } from '#shared/domain/limits.ts';
import { namespacings } from '#shared/domain/mcp/server.ts';
import { approvalsOf, isSecretValue, type Project } from '#shared/domain/project.ts';
import { approvalModes } from '#shared/domain/session.ts';
import { iso } from '../fields.ts';
import type { updateProjectBody } from './bodies.ts';
import { flavorName, providerName, templateName } from './session-view.ts';

export const projectAnswer = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string().optional(),
    provider: providerName.optional(),
    model: z.string().optional(),
    flavor: flavorName.optional(),
    template: templateName.optional(),
    approvals: z.enum(approvalModes).optional(),
    flavorsAllowed: z.array(flavorName).optional(),
    limits: z
      .object({
        maxRecursionDepth: z.number().int().optional(),
        maxAgentsPerSession: z.number().int().optional(),
        maxCostUsd: z.number().optional(),
      })
      .optional()
      .describe("Limits that differ from the operator's."),
    disabledTools: z.array(z.string()).optional(),
    mcpNamespacing: z.enum(namespacings).optional(),
    secrets: z.array(z.string()).optional().describe('Names of the secrets of the project; absent in lists.'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Project' });

export const projectsAnswer = z.object({ projects: z.array(projectAnswer), next: z.string().optional() });

export const deletedAnswer = z.object({ id: z.uuid(), message: z.string() });

export const projectView = ({
  owner: _,
  createdAt,
  flavorsAllowed,
  disabledTools,
  limits,
  ...project
}: Project): z.output<typeof projectAnswer> => ({
  ...project,
  ...(flavorsAllowed === undefined ? {} : { flavorsAllowed: [...flavorsAllowed] }),
  ...(disabledTools === undefined ? {} : { disabledTools: [...disabledTools] }),
  ...(limits === undefined
    ? {}
    : {
        limits: {
          maxRecursionDepth: limits.recursionDepthMax,
          maxAgentsPerSession: limits.agentsPerSessionMax,
          maxCostUsd: limits.costUsdMax,
        },
      }),
  createdAt: iso(createdAt),
});

/** `approvals` and `autonomy` are two names of one setting; the first counts where both are given. */
export const projectOptionsOf = <Body extends z.output<typeof updateProjectBody>>({
  autonomy,
  limits,
  ...options
}: Body) => ({
  ...options,
  ...(options.approvals === undefined && autonomy !== undefined
    ? { approvals: autonomy === null ? null : approvalsOf(autonomy) }
    : {}),
  ...(limits === undefined
    ? {}
    : {
        limits: limits && {
          recursionDepthMax: limits.maxRecursionDepth,
          agentsPerSessionMax: limits.maxAgentsPerSession,
          costUsdMax: limits.maxCostUsd,
        },
      }),
});

export const putSecretBody = z.object({
  value: z
    .string()
    .refine(isSecretValue, `a secret has 1 to ${secretValueBytesMax} bytes of text and no NUL`),
});

export const secretView = z.object({ name: z.string() });
export const secretsView = z.object({ secrets: z.array(secretView) });
export const removedView = z.object({ message: z.string() });
