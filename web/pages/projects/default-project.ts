/** The default project, whose id is fixed. */
import { defaultProject } from '#shared/domain/principal.ts';

export const isDefaultProject = (id: string): boolean => id === defaultProject;
