/** A change of a workspace's files, carried into its sandbox: it is in a checkpoint before the caller gets an answer. */
import type { LiveSandbox } from '../../domain/sandbox.ts';
import { AppError, isAppError, UnsentError } from '../../errors.ts';
import type { LinkRequest } from '../../ports/sandbox.ts';
import type { FileDeps, StopDeps } from '../deps.ts';
import { acquireWithHeartbeat } from '../sandbox/acquire-with-heartbeat.ts';
import { filePath } from '../sandbox/browse-files.ts';
import { refusalOf } from '../sandbox/sandbox-server-error.ts';
import { saveWorkspace } from '../sandbox/save-workspace.ts';
import { type FileRequest, fileSuggestions } from './read-files.ts';

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
  const isPart = request.headers?.['content-range'] !== undefined;
  if (!response.ok)
    throw await refusalOf(response, (code) =>
      isPart && code === 'conflict' ? partSuggestions : fileSuggestions,
    );
  const text = await response.text().catch(fail);
  // A part that is not the last is not a file yet.
  if (response.status !== 202) await keepWritten(ports, sandbox).catch(fail);
  return { status: response.status, answer: text === '' ? undefined : JSON.parse(text) };
};

/** The sandbox names the byte. */
const partSuggestions = {
  suggestions: [
    'Send the part that starts at the byte in the message. At byte 0, begin the upload again: the sandbox does not have its earlier parts.',
  ],
};

export type WrittenFile = { readonly size: number; readonly isNew: boolean };

export const writeWorkspaceFile = async (
  ports: FileDeps,
  { session, path, opening, bytes }: FileRequest & { readonly bytes: Uint8Array },
): Promise<WrittenFile> => {
  const { sandbox } = await acquireWithHeartbeat(ports, session, opening);
  const put = { signal: opening.signal, method: 'PUT', path: filePath(path), body: bytes };
  const response = await ports.link.fetch(sandbox, put);
  if (!response.ok) throw await refusalOf(response, () => fileSuggestions);
  await response.body?.cancel();
  opening.onPhase?.('saving the workspace');
  await keepWritten(ports, sandbox);
  return { size: bytes.length, isNew: response.status === 201 };
};

/**
 * Saves a request's change, and fails where that did not happen: the workspace is over its limit, or the save was not reached, and a sandbox that is
 * gone has taken the change with it. A save that lost against another one is logged: that one, or the next, has the change.
 */
const keepWritten = async (ports: StopDeps, sandbox: LiveSandbox): Promise<void> => {
  const report = await saveWorkspace(ports, sandbox);
  if (report.status === 'saved') return;
  if (report.code === 'resource_limit_exceeded')
    throw new AppError('resource_limit_exceeded', `the file is written, but not saved: ${report.message}`, {
      suggestions: ['Remove files that are no longer needed.'],
    });
  if (report.code === 'sandbox_unavailable')
    throw new AppError('sandbox_unavailable', `the change was not saved: ${report.message}`, {
      suggestions: ['Repeat the request.'],
      recoveryActions: ['wait_and_retry'],
    });
  ports.telemetry.warn('a written file is not saved yet', { reason: report.message });
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
