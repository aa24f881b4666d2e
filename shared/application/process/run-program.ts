/**
 * Runs a program to its end, or for as long as a request may wait. Then it continues as a process, which is recorded. The
 * workspace is saved before the answer, as after a tool call.
 */
import { decodeStored } from '../../contracts/decode.ts';
import { type ProcessResult, processResult } from '../../contracts/process.ts';
import { asSavedHeader } from '../../contracts/sandbox-call.ts';
import { classify, type Failure } from '../../domain/execution-failure.ts';
import { processWaitMsMax } from '../../domain/limits.ts';
import type { Session } from '../../domain/session.ts';
import type { SandboxDeps } from '../deps.ts';
import type { Opening } from '../sandbox/acquire-with-heartbeat.ts';
import { lossesForClient, recordClientLossNotice } from '../sandbox/record-loss-notice.ts';
import { saveAfter } from '../sandbox/save-workspace.ts';
import { type Program, recordProcess, startProcess } from './start-process.ts';

export type ProgramOutcome =
  | {
      readonly status: 'ended';
      readonly result: ProcessResult;
      readonly failure: Failure | undefined;
      readonly notices: readonly string[];
    }
  | { readonly status: 'continues'; readonly processId: string };

export const runProgram = async (
  ports: SandboxDeps,
  session: Session,
  { program, opening }: { readonly program: Program; readonly opening: Opening },
): Promise<ProgramOutcome> => {
  const startedAt = ports.world.now();
  const request = { program, opening, waitMs: processWaitMsMax, isRecorded: false };
  const { id, opened, askedAt, response } = await startProcess(ports, session, request);
  const { sandbox, workspace } = opened;
  if (response.status === 202) {
    await response.body?.cancel();
    await recordProcess(ports, session, { id, sandbox, program, startedAt: askedAt });
    return { status: 'continues', processId: id };
  }
  const result = decodeStored(processResult(), await response.json());
  const asSaved = lineNumberOf(response.headers.get(asSavedHeader));
  const saved = await saveAfter(ports, { sandbox, workspace, startedAt, asSaved });
  const losses = lossesForClient(session, opened);
  await recordClientLossNotice(ports, session, losses);
  return {
    status: 'ended',
    result,
    failure: failureOf(result, program),
    notices: [
      ...(losses === undefined ? [] : [losses.notice]),
      ...(saved.status === 'failed' ? [`[The workspace was not saved: ${saved.message}.]`] : []),
    ],
  };
};

const lineNumberOf = (header: string | null): number | undefined =>
  /^\d{1,15}$/.test(header ?? '') ? Number(header) : undefined;

const failureOf = (
  { exitCode, signal, killedFor, startFailure }: ProcessResult,
  { timeoutSeconds }: Program,
): Failure | undefined => {
  if (startFailure !== undefined)
    return classify({
      exitCode: null,
      limit: { type: 'system_error', message: `could not be started: ${startFailure}` },
    });
  const limit = killedFor && limitOf(killedFor, timeoutSeconds);
  return classify({ exitCode, isCommand: true, limit, ...(signal === null ? {} : { signal }) });
};

const limitOf = (killedFor: NonNullable<ProcessResult['killedFor']>, timeoutSeconds: number | undefined) => {
  switch (killedFor) {
    case 'timeout':
      return { type: 'execution_timeout', message: `timed out after ${timeoutSeconds} s` } as const;
    case 'memory':
      return { type: 'resource_limit_exceeded', message: 'out of memory' } as const;
    case 'processes':
      return { type: 'resource_limit_exceeded', message: 'process limit reached' } as const;
    case 'cancelled':
      return { type: 'cancelled', message: 'cancelled' } as const;
  }
};
