/** Frames of a terminal: what is typed, and its size. Either attaches the connection to the process. No frame starts a sandbox (TW6). */

import type { ProcessDeps } from '#shared/application/deps.ts';
import type { AttachTerminal } from '#shared/application/process/attach-terminal.ts';
import { showProcess } from '#shared/application/process/list-processes.ts';
import { changeProcess, type ProcessChange } from '#shared/application/process/use-process.ts';
import { isUuid } from '#shared/domain/ids.ts';
import type { Session } from '#shared/domain/session.ts';
import { AppError, isAppError } from '#shared/errors.ts';
import type { SocketRequest } from './socket-request.ts';
import type { TerminalAction } from './terminal-action.ts';

export type TerminalPorts = ProcessDeps & { readonly attachTerminal: AttachTerminal };

type Received = Pick<SocketRequest, 'connectionId' | 'acceptedAt'> & {
  readonly session: Session;
};

export const answerTerminal = async (
  ports: TerminalPorts,
  action: TerminalAction,
  { session, connectionId, acceptedAt: at }: Received,
): Promise<void> => {
  const { processId: id, order, offset } = action;
  if (!isUuid(id)) throw new AppError('not_found', 'there is no such process');
  const frame = { connection: connectionId, at, order };
  try {
    await changeProcess(ports, session, { id, frame, change: changeOf(action) });
  } catch (error) {
    if (isTyped(action) || !(await hasEnded(ports, session, { id, error }))) throw error;
  }
  const isAnew = action.action === 'process:resize' && offset !== undefined;
  const key = { connection: connectionId, process: id };
  await ports.attachTerminal(key, { offset, isAnew });
};

const isTyped = (action: TerminalAction): boolean => action.action === 'process:input' && action.text !== '';

const changeOf = (action: TerminalAction): ProcessChange => {
  if (action.action === 'process:resize') return { kind: 'resize', cols: action.cols, rows: action.rows };
  return { kind: 'stdin', bytes: new TextEncoder().encode(action.text), isLast: false };
};

/** One that has ended takes nothing, but has output and an exit code that the connection receives. */
const hasEnded = async (
  ports: TerminalPorts,
  session: Session,
  { id, error }: { readonly id: string; readonly error: unknown },
): Promise<boolean> =>
  isAppError(error) &&
  error.code === 'conflict' &&
  (await showProcess(ports, session, id)).state !== 'running';
