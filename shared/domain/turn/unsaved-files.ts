/**
 * Files of a turn that no save took, from step to step: a later save out of the same sandbox takes them, and they are lost once
 * another sandbox has followed one that ended by itself. The completion says so, and the time of the last checkpoint.
 */
import type { LogEntry } from '../event-log.ts';
import type { SavedFiles, UnsavedFiles } from './saved-files.ts';
import type { TurnState } from './turn.ts';

const unsavedAfter = (
  before: UnsavedFiles | undefined,
  { generation, followsLoss, lost }: SavedFiles = {},
): UnsavedFiles | undefined => {
  if (generation === undefined || before?.areLost) return before;
  if (before !== undefined && generation > before.generation) {
    if (followsLoss) return { generation: before.generation, areLost: true };
    // It was stopped in order, which saved it.
    if (before.isUntried && lost === undefined) return undefined;
  }
  if (lost !== undefined) return { generation };
  return before?.generation === generation ? undefined : before;
};

type FilesStep = { readonly state: TurnState; readonly log: readonly LogEntry[] };

/** The step with what became of the files by then: in its state, and in its completion, if it has one. */
export const withFiles = <Step extends FilesStep>(
  step: Step,
  files: SavedFiles | undefined,
  before: TurnState,
): Step => {
  const unsaved = unsavedAfter(unsavedIn(step.state) ?? unsavedIn(before), files);
  return { ...step, state: keeping(step.state, unsaved), log: completed(step.log, files, unsaved) };
};

const unsavedIn = (state: TurnState): UnsavedFiles | undefined =>
  'unsaved' in state ? state.unsaved : undefined;

const keeping = (state: TurnState, unsaved: UnsavedFiles | undefined): TurnState => {
  if (state.kind === 'idle' || state.kind === 'done') return state;
  const { unsaved: _, ...others } = state;
  return unsaved === undefined ? others : { ...others, unsaved };
};

const completed = (
  log: readonly LogEntry[],
  { savedAt, lost, generation }: SavedFiles = {},
  unsaved: UnsavedFiles | undefined,
): readonly LogEntry[] => {
  // Without another look, as the last save left them.
  const isLeft = generation === undefined && unsaved?.isUntried === undefined;
  const isUnsaved = unsaved !== undefined && (unsaved.areLost === true || isLeft);
  const isLost = lost !== undefined || isUnsaved;
  if (savedAt === undefined && !isLost) return log;
  const workspace = {
    ...(savedAt === undefined ? {} : { savedAt }),
    ...(isLost ? { lost: true as const } : {}),
  };
  return log.map((entry) =>
    entry.type === 'completion' ? { ...entry, data: { ...entry.data, workspace } } : entry,
  );
};
