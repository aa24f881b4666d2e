/** `SavedFiles` over the link function, the only way by which files of a workspace leave the bucket. */
import { refOf } from '#shared/domain/checkpoint.ts';
import type { SavedFiles } from '#shared/ports/workspace-archive.ts';
import { invokeLink, type LinkSettings } from './lambda-sandbox-link.ts';

export const makeSavedFiles = (settings: Omit<LinkSettings, 'bearer'>): SavedFiles => ({
  fetch: (workspace, { checkpoint, want, path, signal }) => {
    const { savedAt } = checkpoint;
    const correlationId = settings.correlation.id();
    const asked = { manifest: refOf(checkpoint), savedAt, want, path };
    return invokeLink(settings, { kind: 'saved', workspace, ...asked, correlationId }, signal);
  },
});
