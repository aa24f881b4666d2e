/**
 * The background of an agent's programs: the calls that ask for it start a process, under an id that follows from the
 * call's key, so that a repeat starts no second one. In a sandbox that stops none begins.
 */
import { withoutAbsent } from '../../../contracts/absent-arguments.ts';
import { decode } from '../../../contracts/decode.ts';
import { agentPrograms } from '../../../contracts/tools/sandbox-tools.ts';
import { derivedUuid } from '../../../domain/ids.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Session } from '../../../domain/session.ts';
import { AppError, isAppError } from '../../../errors.ts';
import type { Lost, ToolOutcome } from '../../../ports/sandbox.ts';
import type { SandboxDeps } from '../../deps.ts';
import { codeProgram, markProcesses, type Program, startIn } from '../../process/start-process.ts';
import type { UsedSandbox } from '../holder/turn-context.ts';

type Known = Exclude<ToolOutcome, { status: 'lost' }>;

/** A call for the sandbox, without what the platform reads; or a program that is to start in the background. */
export type ProgramCall =
  | { readonly kind: 'call'; readonly args: JsonObject }
  | { readonly kind: 'background'; readonly program: Program };

/** Throws `invalid_request` for arguments that start no program. */
export const programCall = (name: string, given: JsonObject): ProgramCall => {
  const { background, ...args } = given;
  if (!Object.hasOwn(agentPrograms, name)) return { kind: 'call', args: given };
  if (background === undefined || background === false || background === null || background === '')
    return { kind: 'call', args };
  return {
    kind: 'background',
    program: name === 'execute_code' ? programOfCode(given) : programOfCommand(given),
  };
};

const programOfCode = (given: JsonObject): Program => {
  const { code, language, cwd, env } = decoded(agentPrograms.execute_code(), given);
  return { ...codeProgram(code, language), cwd, env };
};

const programOfCommand = (given: JsonObject): Program => {
  const { command, args, cwd, env } = decoded(agentPrograms.execute_command(), given);
  return { command, args, cwd, env };
};

const decoded = <Schema extends Parameters<typeof decode>[0]>(schema: Schema, given: JsonObject) => {
  const result = decode(schema, withoutAbsent(schema, given));
  if (result.ok) return result.value;
  throw new AppError('invalid_request', result.problem);
};

export type BackgroundStart = {
  readonly session: Session;
  readonly key: string;
  readonly used: UsedSandbox;
  readonly program: Program;
};

export const startInBackground = async (
  ports: SandboxDeps,
  { session, key, used, program }: BackgroundStart,
): Promise<Known | Lost> => {
  if (!(await markProcesses(ports, used))) return { status: 'lost', message: 'it stops', isUnsent: true };
  const id = derivedUuid(ports.world.sha256(`process\n${session.id}\n${key}`));
  try {
    const response = await startIn(ports, session, { id, sandbox: used.sandbox, program, isRecorded: true });
    await response.body?.cancel();
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { status: 'failed', code: error.code, message: error.message };
  }
  const text = `Started in the background as process ${id}. The tool process shows its output and ends it.`;
  return { status: 'finished', content: [{ type: 'text', text }] };
};
