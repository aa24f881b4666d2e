/** The address of an MCP server in the API: its name, and its project where one is named, else the token's own. */
import type { Call } from '../../command.ts';

export const nameOf = ({ positionals }: Call): string => positionals[0] ?? '';
export const inProject = (call: Call) => ({ query: { project: call.text('project') } });
export const addressOf = (call: Call) => ({ params: { name: nameOf(call) }, ...inProject(call) });
