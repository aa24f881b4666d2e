/**
 * `WorkspaceArchive` over the link function: it carries the bytes between sandbox and bucket, and returns only a
 * report about them. An answer of another shape is an error, not a checkpoint.
 */
import type * as z from 'zod';
import { decodeJson } from '#shared/contracts/decode.ts';
import { type LinkCall, restoreAnswer, saveAnswer } from '#shared/contracts/link.ts';
import type { OwnerId } from '#shared/domain/ids.ts';
import type { LiveSandbox } from '#shared/domain/sandbox.ts';
import { isAppError } from '#shared/errors.ts';
import type { WorkspaceArchive } from '#shared/ports/workspace-archive.ts';
import { invokeLink, type LinkSettings, unreachable } from './lambda-sandbox-link.ts';
import { type WorkspaceBucket, workspacePrefix } from './workspace-bucket.ts';

/** `mounted`: one folder that all sandboxes see, without any copying. */
export type SharedVolumeKind = 'bucket' | 'mounted';

export type ArchiveSettings = LinkSettings & {
  readonly bucket: WorkspaceBucket;
  readonly sharedVolume?: SharedVolumeKind | undefined;
};

export const makeWorkspaceArchive = (settings: ArchiveSettings): WorkspaceArchive => ({
  keepsShared: settings.sharedVolume === 'bucket',
  save: (sandbox, { id, base, logsAfter, owner }) =>
    ask(settings, saveAnswer, {
      kind: 'save',
      ...targetOf(settings, sandbox),
      id,
      logsAfter,
      ...(base === undefined ? {} : { base: refOf(base) }),
      ...sharedOf(settings, owner),
    }),
  restore: (sandbox, { manifest, owner }) =>
    ask(settings, restoreAnswer, {
      kind: 'restore',
      ...targetOf(settings, sandbox),
      ...(manifest === undefined ? {} : { manifest: refOf(manifest) }),
      ...sharedOf(settings, owner),
    }),
  forget: (workspace) => settings.bucket.removeAll(workspacePrefix(workspace)),
});

const sharedOf = ({ sharedVolume }: ArchiveSettings, owner: OwnerId) =>
  sharedVolume === 'bucket' ? { shared: { owner } } : {};

/** The reference alone: the link does not need the rest of a checkpoint. */
const refOf = ({ id, sha256 }: { readonly id: string; readonly sha256: string }) => ({ id, sha256 });

const targetOf = ({ bearer, followed }: LinkSettings, { address, workspaceId, generation }: LiveSandbox) => {
  const correlationId = followed?.();
  return {
    address,
    bearer: bearer(workspaceId, generation),
    workspace: workspaceId,
    ...(correlationId === undefined ? {} : { correlationId }),
  };
};

const ask = async <S extends z.ZodType>(
  settings: LinkSettings,
  schema: S,
  call: LinkCall,
): Promise<z.output<S>> => {
  try {
    const response = await invokeLink(settings, call);
    const answer = decodeJson(schema, await response.text());
    if (answer.ok) return answer.value;
    throw new Error(`the link answered ${response.status}: ${answer.problem}`);
  } catch (cause) {
    throw isAppError(cause) ? cause : unreachable(cause);
  }
};
