/**
 * Refuses the deletion of the project of the synthetic check: an id of a deleted project is not used again for a day or more, and
 * until then each check, and the one that ends a deploy, would fail.
 */
import { canonicalUuid } from '../../domain/ids.ts';
import { syntheticProject } from '../../domain/synthetic-project.ts';
import { AppError } from '../../errors.ts';

export const refuseSyntheticProject = (id: string): void => {
  if (canonicalUuid(id) !== syntheticProject) return;
  throw new AppError('conflict', 'the platform checks itself in this project', {
    suggestions: ['Keep it. SYNTHETIC_CHECK=false switches the checks off, and nothing is made in it then.'],
  });
};
