/** `get_volume_path`: the path of the folder that all sandboxes share, if there is one. */
import { findSession } from '#shared/application/access/find-session.ts';
import { getVolumePathArguments, getVolumePathResult } from '#shared/contracts/tools/mcp-tools.ts';
import { defineTool } from '../define-tool.ts';

export const getVolumePath = defineTool({
  name: 'get_volume_path',
  description: 'Returns the path of the shared folder in a sandbox, and its availability in this deployment.',
  needs: 'own:read',
  input: getVolumePathArguments,
  output: getVolumePathResult,
  annotations: { title: 'Find the shared folder', readOnlyHint: true, openWorldHint: false },
  run: async ({ session_id: id }, { ports, principal, settings, intent }) => {
    if (id !== undefined) await findSession(ports.sessions, { id, principal, intent });
    const { guestPath, isAvailable } = settings.volume;
    const description = isAvailable
      ? 'A folder that outlives sessions; in a sandbox its path is also in SHARED_VOLUME_PATH.'
      : 'This deployment has no shared folder: use /workspace, which belongs to the session.';
    return { volume_path: guestPath, description, available: isAvailable };
  },
});
