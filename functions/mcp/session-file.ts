/** The session and the path of a file tool's arguments, as the use cases take them. */
import { findSession } from '#shared/application/access/find-session.ts';
import type { FileRequest } from '#shared/application/session/session-files.ts';
import type { ToolContext } from './define-tool.ts';

export const fileRequest = async (
  { ports, principal, intent, settings, correlationId, signal, onPhase }: ToolContext,
  { session_id: id, path }: { readonly session_id: string; readonly path: string },
): Promise<FileRequest> => {
  const { session } = await findSession(ports.sessions, { id, principal, intent });
  const { lifetimes } = settings.defaults;
  return { session, principal, path, opening: { lifetimes, correlationId, signal, onPhase } };
};
