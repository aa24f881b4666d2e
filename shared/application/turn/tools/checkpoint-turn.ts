/**
 * Takes the checkpoint of a turn: the files that its tools wrote are saved before the turn's `completion` says that it is done
 * (L11).
 *
 * It runs while the model call after the tools runs. A turn that continues in another function saves too: it cannot know
 * whether its predecessor did, and saving nothing new is cheap. If the sandbox is lost by then, so is what was not saved.
 */

import { iso } from '../../../contracts/fields.ts';
import { notSavedEntry, sharedNotSavedEntry } from '../../../contracts/sandbox-start.ts';
import type { LogEntry } from '../../../domain/event-log.ts';
import type { TurnId } from '../../../domain/ids.ts';
import { lostSince, type Workspace } from '../../../domain/sandbox.ts';
import { turnOf } from '../../../domain/turn/begin-turn.ts';
import type { SavedFiles } from '../../../domain/turn/saved-files.ts';
import { currentMessage } from '../../../domain/turn/session-after-step.ts';
import type { CheckpointNote } from '../../../ports/turn-store.ts';
import type { StopDeps } from '../../deps.ts';
import { type SaveReport, saveWorkspace, takeCheckpoint } from '../../sandbox/save-workspace.ts';
import { afterLastSave } from '../../sandbox/saved-workspace.ts';
import type { TurnContext, UsedSandbox } from '../holder/turn-context.ts';

export type TurnCheckpoint = {
  /** Empty, unless it failed. */
  readonly log: readonly LogEntry[];
  /** Absent when no sandbox was used. */
  readonly files?: SavedFiles;
  /** For the turn's own commit to name, and where it was taken. */
  readonly taken?: UsedSandbox & { readonly note: CheckpointNote };
};

export const checkpointTurn = async (
  ports: StopDeps,
  context: Pick<TurnContext, 'session' | 'turn' | 'inbox' | 'used'>,
): Promise<TurnCheckpoint> => {
  const { state } = context.turn;
  const hadTools = 'step' in state && state.step > 1;
  if (context.used === undefined && !hadTools) return { log: [] };
  const used = context.used ?? (await usedBefore(ports, context));
  if (!('sandbox' in used)) return { log: [], ...used };
  const { note, ...report } = await takeCheckpoint(ports, used.sandbox, {
    workspace: used.workspace,
    turn: turnOf(context.turn),
  });
  const savedAt = (note?.checkpoint ?? used.workspace.checkpoint)?.savedAt;
  const saved = {
    log: entriesOf(report),
    files: { ...filesOf(report, savedAt), ...savedIn(used.workspace) },
  };
  return note === undefined ? saved : { ...saved, taken: { note, ...used } };
};

export type SavedAgain = Pick<TurnCheckpoint, 'log' | 'files'>;

/** Saves once more, on the base of another caller's checkpoint, and names it at once. */
export const checkpointAgain = async (
  ports: StopDeps,
  { sandbox, workspace }: UsedSandbox,
  turn: TurnId | undefined,
): Promise<SavedAgain> => {
  const savedAt = ports.world.now();
  const report = await saveWorkspace(ports, sandbox, { turn });
  const files = { ...filesOf(report, savedAt), ...savedIn(workspace) };
  return { log: entriesOf(report), files };
};

const filesOf = (report: SaveReport, savedAt: number | undefined): SavedFiles =>
  report.status === 'failed' ? { ...saidAt(report.savedAt), lost: report.message } : saidAt(savedAt);

const savedIn = ({ sandbox }: Workspace): Pick<SavedFiles, 'generation' | 'followsLoss'> => ({
  ...(sandbox === undefined ? {} : { generation: sandbox.generation }),
  ...(sandbox?.lost === undefined ? {} : { followsLoss: true as const }),
});

const saidAt = (at: number | undefined): SavedFiles => (at === undefined ? {} : { savedAt: iso(at) });

const entriesOf = (report: SaveReport): readonly LogEntry[] => [
  ...(report.status === 'failed' ? [notSavedEntry(report.message, report.savedAt)] : []),
  ...(report.sharedFailed === undefined ? [] : [sharedNotSavedEntry(report.sharedFailed)]),
];

/** Undefined when it was lost: its end is in the log, with what was saved. */
export const livingSandbox = async (
  { workspaces }: StopDeps,
  { session }: Pick<TurnContext, 'session'>,
): Promise<UsedSandbox | undefined> => usedIn(await workspaces.get(session.workspace));

const usedIn = (workspace: Workspace | undefined): UsedSandbox | undefined => {
  const { sandbox } = workspace ?? {};
  if (workspace === undefined || sandbox?.state !== 'ready' || sandbox.address === undefined)
    return undefined;
  const { generation, address, flavor } = sandbox;
  return { workspace, sandbox: { workspaceId: workspace.id, generation, address, flavor } };
};

/** The sandbox in which an earlier function ran the turn's calls; where it is lost, what became of their files. */
export const usedBefore = async (
  ports: StopDeps,
  { session, turn, inbox }: Pick<TurnContext, 'session' | 'turn' | 'inbox'>,
): Promise<UsedSandbox | Pick<TurnCheckpoint, 'files'>> => {
  const workspace = await afterLastSave(ports, session.workspace);
  const used = usedIn(workspace);
  if (used !== undefined || workspace === undefined) return used ?? {};
  const { acceptedAt: since } = currentMessage(turn.state, inbox) ?? {};
  const lost =
    since === undefined ? undefined : lostSince(workspace, { since, steppedAt: session.lastActiveAt });
  const said = lost === undefined ? {} : { ...saidAt(workspace.checkpoint?.savedAt), lost };
  return { files: { ...said, ...savedIn(workspace) } };
};
