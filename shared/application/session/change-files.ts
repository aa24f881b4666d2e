/** A change of a workspace's files, carried into its sandbox: it is in a checkpoint before the caller gets an answer. */
import type { LiveSandbox } from '../../domain/sandbox.ts';
import type { LinkRequest } from '../../ports/sandbox.ts';
import type { FileDeps } from '../deps.ts';
import { refusalOf } from '../sandbox/refusal-of.ts';
import { fileSuggestions, keepWritten } from './session-files.ts';

/** `answer`: what the sandbox says of the change; undefined when it says nothing. */
export const changeFiles = async (
  ports: FileDeps,
  sandbox: LiveSandbox,
  request: LinkRequest,
): Promise<{ readonly status: number; readonly answer: unknown }> => {
  const response = await ports.link.fetch(sandbox, request);
  if (!response.ok) throw await refusalOf(response, () => fileSuggestions);
  const text = await response.text();
  // A part that is not the last is not a file yet.
  if (response.status !== 202) await keepWritten(ports, sandbox);
  return { status: response.status, answer: text === '' ? undefined : JSON.parse(text) };
};
