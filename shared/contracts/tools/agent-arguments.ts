/**
 * The arguments of an agent's own tools, judged before a call runs: a model learns at once what its tool would refuse, and so does a
 * person who changes a call.
 *
 * Tools of registered servers, of clients and of other agents' programs are judged by these alone.
 */
import type * as z from 'zod';
import type { JsonObject } from '#shared/domain/json.ts';
import { withoutAbsent } from '../absent-arguments.ts';
import { decode } from '../decode.ts';
import { agentSessionCall } from './agent-session-tool.ts';
import { agentProcessCall } from './process-tool.ts';
import { agentPrograms, sandboxTools } from './sandbox-tools.ts';

const contracts: Readonly<Record<string, () => z.ZodType>> = {
  read_file: () => sandboxTools.read_file.input,
  write_file: () => sandboxTools.write_file.input,
  list_files: () => sandboxTools.list_files.input,
  execute_command: agentPrograms.execute_command,
  execute_code: agentPrograms.execute_code,
  process: agentProcessCall,
  session: agentSessionCall,
};

/** The reason for which the tool refuses them, as text; undefined for arguments that it takes, and for a tool that has no contract here. */
export const argumentsProblem = (name: string, args: JsonObject): string | undefined => {
  const contract = Object.hasOwn(contracts, name) ? contracts[name]?.() : undefined;
  if (contract === undefined) return undefined;
  const decoded = decode(contract, withoutAbsent(contract, args));
  return decoded.ok ? undefined : decoded.problem;
};
