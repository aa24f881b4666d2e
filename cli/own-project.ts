/** The project a command is about when none is named: the token's own, or the default one, as the API decides, too. */
import type { Call } from './command.ts';
import { type HttpClient, segment } from './http-client.ts';

type Projects = { readonly projects: readonly { readonly id: string }[]; readonly next?: string };

/** The project of everything that names none. */
const defaultProject = '00000000-0000-4000-8000-000000000000';

/** `/api/projects/…` of the project that `--project` names. */
export const projectPath = async (call: Call, client: HttpClient): Promise<string> =>
  `/api/projects/${segment(call.text('project') ?? (await ownProject(client)))}`;

/** A token of a project lists that one alone. */
const ownProject = async (client: HttpClient): Promise<string> => {
  const { projects, next } = await client.get<Projects>('/api/projects');
  const [first, second] = projects;
  return first === undefined || second !== undefined || next !== undefined ? defaultProject : first.id;
};
