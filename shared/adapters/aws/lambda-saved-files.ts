/** `SavedFiles` over the link function, the only way by which files of a workspace leave the bucket. */
import type { SavedFiles } from '#shared/ports/workspace-archive.ts';
import { invokeLink, type LinkSettings } from './lambda-sandbox-link.ts';

export const makeSavedFiles = (settings: LinkSettings): SavedFiles => ({
  fetch: (workspace, { checkpoint, want, path, signal }) => {
    const { id, sha256, savedAt } = checkpoint;
    const correlationId = settings.followed?.();
    const call = { kind: 'saved', workspace, manifest: { id, sha256 }, savedAt, want, path } as const;
    return invokeLink(
      settings,
      { ...call, ...(correlationId === undefined ? {} : { correlationId }) },
      signal,
    );
  },
});
