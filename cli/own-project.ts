/** The project a command is about when none is named: the token's own, or the default one, as the API decides, too. */
import { api } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import type { Call } from './command.ts';

/** The project of everything that names none. */
const defaultProject = '00000000-0000-4000-8000-000000000000';

/** The id of the project that `--project` names. */
export const projectOf = async (call: Call, client: Sallyport): Promise<string> =>
  call.text('project') ?? (await ownProject(client));

/** A token of a project lists that one alone. */
const ownProject = async (client: Sallyport): Promise<string> => {
  const { projects, next } = await client.request(api.listProjects);
  const [first, second] = projects;
  return first === undefined || second !== undefined || next !== undefined ? defaultProject : first.id;
};
