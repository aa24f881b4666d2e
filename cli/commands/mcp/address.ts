/** Where the API has the MCP servers of a project. */
import type { Call } from '../../command.ts';
import { segment } from '../../http-client.ts';

/** Of the project that was named, else of the token's own. */
export const inProject = (call: Call, path: string): string => {
  const project = call.text('project');
  return project === undefined ? path : `${path}?project=${segment(project)}`;
};
export const pathOf = (call: Call, suffix = ''): string =>
  inProject(call, `/api/mcp/${segment(nameOf(call))}${suffix}`);
export const nameOf = ({ positionals }: Call): string => positionals[0] ?? '';
