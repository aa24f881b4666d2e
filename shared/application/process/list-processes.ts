/**
 * The processes of a workspace: what its sandbox says of them, joined with the records. A record of an earlier sandbox, or
 * one that the sandbox does not know, is of a process that is lost unless its end was recorded.
 *
 * No sandbox is started. An end that is seen here for the first time is recorded.
 */

import { decodeStored } from '../../contracts/decode.ts';
import { iso } from '../../contracts/fields.ts';
import type { SandboxProcess } from '../../contracts/process.ts';
import { sandboxProcess, sandboxProcesses } from '../../contracts/process.ts';
import type { ProcessView } from '../../contracts/rest/process-view.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { ProcessRecord } from '../../domain/process.ts';
import type { Session } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';
import type { Deps, ProcessDeps, SandboxDeps } from '../deps.ts';
import { recordEnd, recordEnds } from '../sandbox/sandbox-processes.ts';
import { refusalOf } from '../sandbox/sandbox-server-error.ts';
import { askSandbox } from './ask-sandbox.ts';

export const listProcesses = async (
  ports: SandboxDeps,
  { workspace }: Session,
): Promise<readonly ProcessView[]> => {
  const [records, response] = await Promise.all([
    ports.processes.list(workspace),
    askSandbox(ports, workspace, { method: 'GET', path: '/processes' }),
  ]);
  if (response !== undefined && !response.ok) throw await refusalOf(response);
  const known =
    response === undefined ? [] : decodeStored(sandboxProcesses(), await response.json()).processes;
  await recordEnds(ports, workspace, { records, known });
  const isKnown = new Map(known.map((each) => [each.processId, each]));
  const recorded = new Set(records.map(({ id }) => id));
  // A program that ended while its request waited for it was answered there.
  const others = known.filter(({ processId, state }) => !recorded.has(processId) && state === 'running');
  return [...records.map((record) => viewOf(record, isKnown.get(record.id))), ...others.map(runningView)];
};

export const showProcess = async (
  ports: ProcessDeps,
  { workspace }: Session,
  id: string,
): Promise<ProcessView> => {
  const response = await askSandbox(ports, workspace, { method: 'GET', path: `/processes/${id}` });
  if (response?.ok) {
    const known = decodeStored(sandboxProcess(), await response.json());
    await recordEnd(ports, workspace, known);
    return runningView(known);
  }
  if (response !== undefined && response.status !== 404) throw await refusalOf(response);
  await response?.body?.cancel();
  return showRecorded(ports, workspace, id);
};

/** As its record has it, whatever its sandbox says. */
export const showRecorded = async (
  ports: Deps<'processes'>,
  workspace: WorkspaceId,
  id: string,
): Promise<ProcessView> => viewOf(await requireRecord(ports, workspace, id), undefined);

export const requireRecord = async (
  { processes }: Deps<'processes'>,
  workspace: WorkspaceId,
  id: string,
): Promise<ProcessRecord> => {
  const record = await processes.get(workspace, id);
  if (record !== undefined) return record;
  throw new AppError('not_found', `there is no process ${id}`, {
    suggestions: ['GET /api/sessions/{id}/processes lists the processes of the session.'],
  });
};

const runningView = (known: SandboxProcess): ProcessView => {
  const { processId, command, state, exitCode, isPty, startedAt, endedAt } = known;
  return {
    ...{ processId, command, state, isPty, startedAt: iso(startedAt) },
    ...(exitCode == null ? {} : { exitCode }),
    ...(endedAt === undefined ? {} : { endedAt: iso(endedAt) }),
  };
};

const viewOf = (record: ProcessRecord, known: SandboxProcess | undefined): ProcessView => {
  if (known !== undefined) return runningView(known);
  const { id: processId, command, isPty, startedAt, endedAt, exitCode } = record;
  return {
    ...{ processId, command, isPty, startedAt: iso(startedAt) },
    state: endedAt === undefined ? 'lost' : 'exited',
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(endedAt === undefined ? {} : { endedAt: iso(endedAt) }),
  };
};
