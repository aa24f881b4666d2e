/**
 * Starts a program as a process of an execution session, which is created if none is named, and answers at once. The process
 * keeps its sandbox running, so that no call has to.
 */
import type { Session } from '../../domain/session.ts';
import type { ExecutionDeps } from '../deps.ts';
import { type Program, startProcess } from '../process/start-process.ts';
import { beginExecution, type ExecutionOptions, endExecution } from './begin-execution.ts';
import { isStateLost } from './call-in-sandbox.ts';
import { isRefused, openFirst, withSession } from './execute.ts';

export type BackgroundExecution = ExecutionOptions & {
  readonly programFor: (session: Session) => Program;
};

export type StartedInBackground = {
  readonly session: Session;
  readonly sessionCreated: boolean;
  readonly processId: string;
  /** The sandbox of the session's last call is lost. */
  readonly stateLost: boolean;
};

export const executeInBackground = async (
  ports: ExecutionDeps,
  execution: BackgroundExecution,
): Promise<StartedInBackground> => {
  const key = ports.world.uuid();
  const entered = await beginExecution(ports, execution, key);
  const { session, sessionCreated } = entered;
  const { defaults } = execution;
  const { lifetimes } = defaults;
  let isOpen = false;
  try {
    const opened = await openFirst(ports, execution, entered);
    isOpen = true;
    const opening = { lifetimes };
    const request = { program: execution.programFor(session), isRecorded: true, opening };
    const { id: processId, response } = await startProcess(ports, session, request);
    await response.body?.cancel();
    return { session, sessionCreated, processId, stateLost: isStateLost(session, opened) };
  } catch (error) {
    throw sessionCreated && (isOpen || !isRefused(error)) ? withSession(ports, error, session) : error;
  } finally {
    await endExecution(ports, session, { key, lifetimes, isWithoutSandbox: !isOpen });
  }
};
