/** The caller as REST shows it: the scope of the credentials, and what it may do, by the matrix of access.ts. */
import * as z from 'zod';
import { mayUse, needs, projectOf } from '#shared/domain/access.ts';
import type { Principal } from '#shared/domain/principal.ts';

export const accessAnswer = z
  .object({
    scope: z.string().describe('Scope: admin, admin:ro, project:<uuid> or project:<uuid>:ro.'),
    project: z.uuid().optional().describe('Id of the project of a project scope.'),
    may: z.array(z.enum(needs)).describe('Permissions of the scope, as routes name them in `x-needs`.'),
  })
  .meta({ id: 'Access' });

export const accessView = ({ scope }: Pick<Principal, 'scope'>): z.output<typeof accessAnswer> => {
  const project = projectOf(scope);
  return {
    scope,
    ...(project === undefined ? {} : { project }),
    may: needs.filter((need) => mayUse({ scope }, need)),
  };
};
