/** A project as REST shows it. */
import * as z from 'zod';
import type { Project } from '#shared/domain/project.ts';
import { approvalModes } from '#shared/domain/session.ts';
import { flavorName, templateName } from './session-view.ts';

export const projectAnswer = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string().optional(),
    flavor: flavorName.optional(),
    template: templateName.optional(),
    approvals: z.enum(approvalModes).optional(),
    flavorsAllowed: z.array(flavorName).optional(),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Project' });

export const projectsAnswer = z.object({ projects: z.array(projectAnswer), next: z.string().optional() });

export const projectView = ({
  owner: _,
  createdAt,
  flavorsAllowed,
  ...project
}: Project): z.output<typeof projectAnswer> => ({
  ...project,
  ...(flavorsAllowed === undefined ? {} : { flavorsAllowed: [...flavorsAllowed] }),
  createdAt: new Date(createdAt).toISOString(),
});
