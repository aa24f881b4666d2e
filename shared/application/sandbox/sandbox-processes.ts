/** The processes of a sandbox that runs, as it describes them, and their ends in the records. */
import { decodeStored } from '../../contracts/decode.ts';
import { type SandboxProcess, sandboxProcesses } from '../../contracts/process.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import type { ProcessRecord } from '../../domain/process.ts';
import type { LiveSandbox, Workspace } from '../../domain/sandbox.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';

/** Undefined when no sandbox of the workspace is ready. */
export const liveSandboxOf = ({ id, sandbox }: Workspace): LiveSandbox | undefined =>
  sandbox?.state !== 'ready' || sandbox.address === undefined
    ? undefined
    : { workspaceId: id, generation: sandbox.generation, address: sandbox.address, flavor: sandbox.flavor };

/** The processes that the sandbox remembers. */
export const processesOf = async (
  { link }: Deps<'link'>,
  live: LiveSandbox,
): Promise<readonly SandboxProcess[]> => (await read({ link }, live)).processes;

/** The calls that run in the sandbox, from any caller; none in one that cannot be reached. */
export const callsIn = async ({ link }: Deps<'link'>, live: LiveSandbox): Promise<number> => {
  try {
    return (await read({ link }, live)).calls;
  } catch (error) {
    if (isAppError(error) && error.code === 'sandbox_unavailable') return 0;
    throw error;
  }
};

/** Refusal to end a sandbox while a call runs in it. */
export const callRuns = (): AppError =>
  new AppError('conflict', 'a call runs in the workspace', {
    suggestions: ['Wait until it ends, or cancel the turn.'],
    recoveryActions: ['wait_and_retry'],
  });

const read = async ({ link }: Deps<'link'>, live: LiveSandbox) => {
  const response = await link.fetch(live, { method: 'GET', path: '/processes' });
  if (!response.ok)
    throw new AppError('sandbox_unavailable', `the sandbox answered ${response.status} for its processes`);
  return decodeStored(sandboxProcesses(), await response.json());
};

type Joined = { readonly records: readonly ProcessRecord[]; readonly known: readonly SandboxProcess[] };

export const recordEnds = async (
  { processes }: Deps<'processes'>,
  workspace: WorkspaceId,
  { records, known }: Joined,
): Promise<void> => {
  const open = new Set(records.filter(({ endedAt }) => endedAt === undefined).map(({ id }) => id));
  const ended = known.filter(({ processId, endedAt }) => endedAt !== undefined && open.has(processId));
  await Promise.all(ended.map((process) => recordEnd({ processes }, workspace, process)));
};

/** No effect for one that runs, was recorded as ended, or has no record, nor for a lost one: its record stays without an end. */
export const recordEnd = async (
  { processes }: Deps<'processes'>,
  workspace: WorkspaceId,
  { processId, state, endedAt: at, exitCode }: SandboxProcess,
): Promise<void> => {
  if (at === undefined || state === 'lost') return;
  await processes.end(workspace, processId, { at, ...(exitCode == null ? {} : { exitCode }) });
};
