/** The files of a turn, as its last save left them: what its model is told when some are lost. */
import type { MessageId } from '../ids.ts';

export type SavedFiles = {
  /** The time of the last checkpoint, in ISO 8601; absent: there is none. */
  readonly savedAt?: string;
  /** The reason for which later changes are lost. */
  readonly lost?: string;
  /** The sandbox that was to be saved, and whether the one before it ended by itself. */
  readonly generation?: number;
  readonly followsLoss?: true;
};

/** Files of a turn that no save took, by their sandbox: they are lost once another has followed one that ended by itself. */
export type UnsavedFiles = {
  readonly generation: number;
  readonly areLost?: true;
  /** A call began there, and the turn has not tried to save since. */
  readonly isUntried?: true;
};

/** True when the model was told of that loss: it is told once for each sandbox. */
export const isKnownLoss = (
  { knowsLoss, knowsLossOf }: { readonly knowsLoss?: true; readonly knowsLossOf?: number },
  { generation }: SavedFiles,
): boolean => knowsLoss === true && (knowsLossOf === undefined || knowsLossOf === generation);

const noticeEnding = ':notice';

/** The number of a notice of the platform that follows this answer, where a model expects a message of its user. */
export const noticeId = (answer: MessageId): MessageId => `${answer}${noticeEnding}` as MessageId;

export const isNotice = ({ messageId }: { readonly messageId: MessageId }): boolean =>
  messageId.endsWith(noticeEnding);

/** For the model, before it ends its turn. */
export const lossNotice = (reason: string, savedAt: string | undefined): string => {
  const lost =
    savedAt === undefined
      ? 'None of the files in the workspace is saved.'
      : `Changes to files since ${savedAt} are not saved.`;
  return `Notice from the platform: the workspace could not be saved (${reason}). ${lost} They are lost when the sandbox ends. Tell the user, or make them again.`;
};
