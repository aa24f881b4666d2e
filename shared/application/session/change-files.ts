/** A change of a workspace's files, carried into its sandbox: it is in a checkpoint before the caller gets an answer. */
import type { LiveSandbox } from '../../domain/sandbox.ts';
import { AppError, isAppError, UnsentError } from '../../errors.ts';
import type { LinkRequest } from '../../ports/sandbox.ts';
import type { FileDeps } from '../deps.ts';
import { refusalOf } from '../sandbox/sandbox-server-error.ts';
import { fileSuggestions, keepWritten } from './session-files.ts';

export type FileChange = LinkRequest & {
  /** A second one does not find what the first one moved, so that no client may repeat what may have been done. */
  readonly isOnce?: boolean;
};

/** `answer`: what the sandbox says of the change; undefined when it says nothing. */
export const changeFiles = async (
  ports: FileDeps,
  sandbox: LiveSandbox,
  { isOnce = false, ...request }: FileChange,
): Promise<{ readonly status: number; readonly answer: unknown }> => {
  const fail = (error: unknown): never => {
    throw isOnce && isUnknown(error) ? outcomeUnknown(error) : error;
  };
  const response = await ports.link.fetch(sandbox, request).catch(fail);
  if (!response.ok) throw await refusalOf(response, () => fileSuggestions);
  const text = await response.text().catch(fail);
  // A part that is not the last is not a file yet.
  if (response.status !== 202) await keepWritten(ports, sandbox);
  return { status: response.status, answer: text === '' ? undefined : JSON.parse(text) };
};

/** Its answer broke off, before or after its head. */
const isUnknown = (error: unknown): boolean =>
  !(error instanceof UnsentError) && (!isAppError(error) || error.code === 'sandbox_unavailable');

const outcomeUnknown = (cause: unknown): AppError =>
  new AppError('tool_outcome_unknown', 'the sandbox stopped responding: the change may have been made', {
    cause,
    suggestions: ['List the folder before you repeat it.'],
    recoveryActions: ['retry_operation'],
  });
