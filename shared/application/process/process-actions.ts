/**
 * The actions of the tool `process` on the processes of a session, as a client of `/mcp` and an agent use them. None starts a
 * sandbox.
 */
import type { ProcessView } from '../../contracts/rest/process-view.ts';
import { isUuid } from '../../domain/ids.ts';
import type { Session } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';
import type { SandboxDeps } from '../deps.ts';
import { listProcesses, showProcess } from './list-processes.ts';
import { readOutputPart } from './read-output-part.ts';
import { changeProcess, endProcess, type ProcessChange } from './use-process.ts';

type Named = { readonly process_id: string };

const stateOf = ({ state, exitCode }: ProcessView) => ({
  state,
  ...(exitCode === undefined ? {} : { exit_code: exitCode }),
});

export const listAction = async (ports: SandboxDeps, session: Session) => {
  const found = await listProcesses(ports, session);
  const processes = found.map((view) => ({
    process_id: view.processId,
    command: view.command,
    ...stateOf(view),
    started_at: view.startedAt,
    ...(view.endedAt === undefined ? {} : { ended_at: view.endedAt }),
  }));
  return { processes };
};

type OutputAsked = Named & {
  readonly offset: number;
  readonly output_limit: number;
  readonly wait_seconds: number;
};

export const outputAction = async (
  ports: SandboxDeps,
  session: Session,
  { process_id, offset, output_limit, wait_seconds, signal }: OutputAsked & { readonly signal: AbortSignal },
) => {
  const id = checkedId(process_id);
  const request = { id, offset, charactersMax: output_limit, waitSeconds: wait_seconds, signal };
  const part = await readOutputPart(ports, session, request);
  const process = await showProcess(ports, session, id);
  // It may have written its last lines and ended since its output was read.
  const isUnread = process.state !== 'running' && !part.isLast;
  return {
    process_id: id,
    ...stateOf(process),
    output: part.text,
    next_offset: part.nextOffset,
    has_more: part.hasMore || isUnread,
    ...(part.skippedBytes === 0 ? {} : { skipped_bytes: part.skippedBytes }),
    ...(part.isLost === undefined ? {} : { output_lost: true as const }),
  };
};

const changed = async (
  ports: SandboxDeps,
  session: Session,
  { process_id, change }: Named & { readonly change: ProcessChange },
): Promise<string> => {
  const id = checkedId(process_id);
  await changeProcess(ports, session, { id, change });
  return id;
};

export const inputAction = async (
  ports: SandboxDeps,
  session: Session,
  { process_id, text, eof: isLast }: Named & { readonly text: string; readonly eof: boolean },
) => {
  const bytes = new TextEncoder().encode(text);
  const change = { kind: 'stdin', bytes, isLast } as const;
  const id = await changed(ports, session, { process_id, change });
  return { process_id: id, message: isLast ? 'the input was written and closed' : 'the input was written' };
};

export const signalAction = async (
  ports: SandboxDeps,
  session: Session,
  { process_id, signal }: Named & { readonly signal: string },
) => {
  const id = await changed(ports, session, { process_id, change: { kind: 'signal', signal } });
  return { process_id: id, message: `${signal} was sent` };
};

export const killAction = async (ports: SandboxDeps, session: Session, { process_id }: Named) => {
  const id = checkedId(process_id);
  await endProcess(ports, session, id);
  return { process_id: id, message: 'the process and its children have ended' };
};

const checkedId = (given: string): string => {
  const id = given.toLowerCase();
  if (isUuid(id)) return id;
  throw new AppError('not_found', 'there is no such process', {
    suggestions: ['Action list shows the processes of the session.'],
    recoveryActions: ['correct_arguments'],
  });
};
