/** The project of sessions that name none: always there, under an id that the server has fixed. */
import { defaultProject } from '#shared/domain/principal.ts';

export const isDefaultProject = (id: string): boolean => id === defaultProject;
