/** The files of a turn, as its last save left them: what its completion says of them, and its model when some are lost. */
import type { LogEntry } from '../event-log.ts';
import type { MessageId } from '../ids.ts';

export type SavedFiles = {
  /** The time of the last checkpoint, in ISO 8601; absent: there is none. */
  readonly savedAt?: string;
  /** The reason for which later changes are lost. */
  readonly lost?: string;
};

/** The step whose completion, if it has one, says what became of the files. */
export const withFiles = <Step extends { readonly log: readonly LogEntry[] }>(
  step: Step,
  files: SavedFiles | undefined,
): Step => {
  const { savedAt, lost } = files ?? {};
  if (savedAt === undefined && lost === undefined) return step;
  const workspace = {
    ...(savedAt === undefined ? {} : { savedAt }),
    ...(lost === undefined ? {} : { lost: true as const }),
  };
  const complete = (entry: LogEntry): LogEntry =>
    entry.type === 'completion' ? { ...entry, data: { ...entry.data, workspace } } : entry;
  return { ...step, log: step.log.map(complete) };
};

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
