/** Projects by a part of their name: pages are read until enough are found, up to a bound. */
import type { Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import type { ProjectStore } from '../../ports/projects.ts';
import { listProjects } from './manage-projects.ts';

export type ProjectSearch = {
  readonly nameContains?: string | undefined;
  readonly itemsMax: number;
  readonly after?: string | undefined;
};

/** The caller continues with `next`. */
const pagesMax = 20;

export const searchProjects = async (
  projects: ProjectStore,
  principal: Principal,
  { nameContains = '', itemsMax, after }: ProjectSearch,
): Promise<{ readonly projects: readonly Project[]; readonly next?: string }> => {
  const wanted = nameContains.toLowerCase();
  const found: Project[] = [];
  let next = after;
  for (let page = 0; page < pagesMax && found.length < itemsMax; page += 1) {
    const asked = { itemsMax: itemsMax - found.length, ...(next === undefined ? {} : { after: next }) };
    const listed = await listProjects(projects, principal, asked);
    found.push(...listed.projects.filter(({ name }) => name.toLowerCase().includes(wanted)));
    next = listed.next;
    if (next === undefined) return { projects: found };
  }
  return { projects: found, ...(next === undefined ? {} : { next }) };
};
