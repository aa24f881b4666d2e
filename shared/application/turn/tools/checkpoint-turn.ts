/**
 * Takes the checkpoint of a turn: what its tools wrote is saved before the turn's `completion` says that it is done (L11).
 *
 * It runs beside the model call that follows the tools. A turn that goes on in another function saves too: whether its
 * predecessor did cannot be known, and saving nothing new is cheap.
 */

import { notSavedEntry, sharedNotSavedEntry } from '../../../contracts/sandbox-start.ts';
import type { LogEntry } from '../../../domain/event-log.ts';
import type { LiveSandbox } from '../../../domain/sandbox.ts';
import type { CheckpointNote } from '../../../ports/turn-store.ts';
import type { StopDeps } from '../../deps.ts';
import { type SaveReport, saveWorkspace, takeCheckpoint } from '../../sandbox/save-workspace.ts';
import type { TurnContext, UsedSandbox } from '../commit/turn-context.ts';

export type TurnCheckpoint = {
  /** Empty, unless it failed. */
  readonly log: readonly LogEntry[];
  /** For the turn's own commit to name, and where it was taken. */
  readonly taken?: { readonly note: CheckpointNote; readonly sandbox: LiveSandbox };
};

export const checkpointTurn = async (
  ports: StopDeps,
  context: Pick<TurnContext, 'session' | 'turn' | 'used'>,
): Promise<TurnCheckpoint> => {
  const { state } = context.turn;
  const hadTools = 'step' in state && state.step > 1;
  const used = context.used ?? (hadTools ? await livingSandbox(ports, context) : undefined);
  if (used === undefined) return { log: [] };
  const { note, ...report } = await takeCheckpoint(ports, used.sandbox, used.workspace);
  const { sandbox } = used;
  return { log: entriesOf(report), ...(note === undefined ? {} : { taken: { note, sandbox } }) };
};

/** Saves once more, on the base of another caller's checkpoint, and names it at once. */
export const checkpointAgain = async (ports: StopDeps, sandbox: LiveSandbox): Promise<readonly LogEntry[]> =>
  entriesOf(await saveWorkspace(ports, sandbox));

const entriesOf = (report: SaveReport): readonly LogEntry[] => [
  ...(report.status === 'failed' ? [notSavedEntry(report.message, report.savedAt)] : []),
  ...(report.sharedFailed === undefined ? [] : [sharedNotSavedEntry(report.sharedFailed)]),
];

/** Undefined when it was lost: its end is in the log, with what was saved. */
export const livingSandbox = async (
  { workspaces }: StopDeps,
  { session }: Pick<TurnContext, 'session'>,
): Promise<UsedSandbox | undefined> => {
  const workspace = await workspaces.get(session.workspace);
  const { sandbox } = workspace ?? {};
  if (workspace === undefined || sandbox?.state !== 'ready' || sandbox.address === undefined)
    return undefined;
  const { generation, address, flavor } = sandbox;
  return { workspace, sandbox: { workspaceId: workspace.id, generation, address, flavor } };
};
