/**
 * The tool `process` of an agent: the actions that clients of `/mcp` have, on the processes of its own session.
 *
 * An action whose function died may have been performed: reading and ending are repeated, input and signals are not.
 */
import { withoutAbsent } from '../../../contracts/absent-arguments.ts';
import { decode } from '../../../contracts/decode.ts';
import { type AgentProcessCall, agentProcessCall } from '../../../contracts/tools/process-tool.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Session } from '../../../domain/session.ts';
import type { ToolEffect } from '../../../domain/turn/turn.ts';
import { AppError, isAppError } from '../../../errors.ts';
import type { ToolOutcome } from '../../../ports/sandbox.ts';
import type { SandboxDeps } from '../../deps.ts';
import {
  inputAction,
  killAction,
  listAction,
  outputAction,
  signalAction,
} from '../../process/process-actions.ts';

type Known = Exclude<ToolOutcome, { status: 'lost' }>;

export type ProcessToolCall = {
  readonly session: Session;
  readonly effect: Pick<ToolEffect, 'args' | 'generation'>;
  readonly signal: AbortSignal;
};

const unknownAction: Known = {
  status: 'failed',
  code: 'tool_outcome_unknown',
  message: 'its function was lost while it ran: it may have been done, and it is not repeated',
};

export const runProcessTool = async (
  ports: SandboxDeps,
  { session, effect, signal }: ProcessToolCall,
): Promise<Known> => {
  try {
    const call = decodedCall(effect.args);
    if (effect.generation !== undefined && !isRepeatable(call)) return unknownAction;
    const text = await perform(ports, session, { call, signal });
    return { status: 'finished', content: [{ type: 'text', text }] };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { status: 'failed', code: error.code, message: error.message };
  }
};

const decodedCall = (args: JsonObject): AgentProcessCall => {
  const contract = agentProcessCall();
  const result = decode(contract, withoutAbsent(contract, args));
  if (result.ok) return result.value;
  throw new AppError('invalid_request', result.problem);
};

const isRepeatable = ({ action }: AgentProcessCall): boolean => action !== 'input' && action !== 'signal';

type Asked = { readonly call: AgentProcessCall; readonly signal: AbortSignal };

/** The result as the model reads it. */
const perform = async (ports: SandboxDeps, session: Session, { call, signal }: Asked): Promise<string> => {
  switch (call.action) {
    case 'list':
      return listText(await listAction(ports, session));
    case 'output':
      return outputText(await outputAction(ports, session, { ...call, signal }));
    case 'input':
      return (await inputAction(ports, session, call)).message;
    case 'signal':
      return (await signalAction(ports, session, call)).message;
    case 'kill':
      return (await killAction(ports, session, call)).message;
  }
};

const listText = ({ processes }: Awaited<ReturnType<typeof listAction>>): string =>
  processes.length === 0
    ? 'There are no processes.'
    : processes
        .map((process) => `${process.process_id} ${stateText(process)}: ${process.command}`)
        .join('\n');

const outputText = (part: Awaited<ReturnType<typeof outputAction>>): string => {
  const { output, next_offset, has_more: hasMore, skipped_bytes: skipped, output_lost: isLost } = part;
  const notes = [
    stateText(part),
    `next_offset ${next_offset}`,
    ...(hasMore ? ['more output is stored'] : []),
    ...(skipped === undefined ? [] : [`${skipped} bytes before it are no longer stored`]),
    ...(isLost ? ['output that was not read is lost: the sandbox has ended'] : []),
  ];
  return `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}[${notes.join('; ')}]`;
};

const stateText = ({ state, exit_code: code }: { readonly state: string; readonly exit_code?: number }) =>
  code === undefined ? state : `${state} with code ${code}`;
