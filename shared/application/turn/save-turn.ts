/**
 * The checkpoint of a turn: what its tools wrote is safe before the turn's `completion` says that it is done
 * (L11).
 *
 * It runs beside the model call that follows the tools. A turn that goes on in another function saves too:
 * whether its predecessor did cannot be known, and saving nothing new is cheap.
 */
import { notSavedEntry, sharedNotSavedEntry } from '../../contracts/sandbox-start.ts';
import type { LogEntry } from '../../domain/event-log.ts';
import type { LiveSandbox } from '../../domain/sandbox.ts';
import type { CheckpointNote } from '../../ports/session-store.ts';
import { type SavePorts, type SaveReport, saveWorkspace, takeCheckpoint } from '../sandbox/save-workspace.ts';
import type { Desk, UsedSandbox } from './desk.ts';

export type TurnSave = {
  /** What to say of it: nothing, unless it failed. */
  readonly said: readonly LogEntry[];
  /** For the turn's own commit to note, and where it was taken. */
  readonly taken?: { readonly note: CheckpointNote; readonly sandbox: LiveSandbox };
};

export const saveTurn = async (
  ports: SavePorts,
  desk: Pick<Desk, 'session' | 'turn' | 'used'>,
): Promise<TurnSave> => {
  const { state } = desk.turn;
  const hadTools = 'step' in state && state.step > 1;
  const used = desk.used ?? (hadTools ? await livingSandbox(ports, desk) : undefined);
  if (used === undefined) return { said: [] };
  const { note, ...report } = await takeCheckpoint(ports, used.sandbox, used.workspace);
  const { sandbox } = used;
  return { said: saidOf(report), ...(note === undefined ? {} : { taken: { note, sandbox } }) };
};

/** Others saved meanwhile: once more, on their base, and noted at once. */
export const saveTurnAgain = async (ports: SavePorts, sandbox: LiveSandbox): Promise<readonly LogEntry[]> =>
  saidOf(await saveWorkspace(ports, sandbox));

const saidOf = (report: SaveReport): readonly LogEntry[] => [
  ...(report.status === 'failed' ? [notSavedEntry(report.message, report.savedAt)] : []),
  ...(report.sharedFailed === undefined ? [] : [sharedNotSavedEntry(report.sharedFailed)]),
];

/** Undefined when it is gone: its end was told, with what was saved. */
export const livingSandbox = async (
  { workspaces }: SavePorts,
  { session }: Pick<Desk, 'session'>,
): Promise<UsedSandbox | undefined> => {
  const workspace = await workspaces.get(session.workspace);
  const { sandbox } = workspace ?? {};
  if (workspace === undefined || sandbox?.state !== 'ready' || sandbox.address === undefined)
    return undefined;
  const { generation, address, flavor } = sandbox;
  return { workspace, sandbox: { workspaceId: workspace.id, generation, address, flavor } };
};
