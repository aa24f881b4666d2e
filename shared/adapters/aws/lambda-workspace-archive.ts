/**
 * `WorkspaceArchive` over the link function: it carries the bytes between sandbox and bucket, and returns only a
 * report about them. An answer of another shape is an error, not a checkpoint.
 */
import type * as z from 'zod';
import { decodeJson } from '#shared/contracts/decode.ts';
import {
  adoptAnswer,
  applyAnswer,
  compareAnswer,
  type LinkCall,
  restoreAnswer,
  saveAnswer,
} from '#shared/contracts/sandbox-link.ts';
import { refOf } from '#shared/domain/checkpoint.ts';
import type { OwnerId } from '#shared/domain/ids.ts';
import type { LiveSandbox } from '#shared/domain/sandbox.ts';
import { AppError, isAppError } from '#shared/errors.ts';
import type { ObsoleteObjects, SavedStates, WorkspaceArchive } from '#shared/ports/workspace-archive.ts';
import { invokeLink, LinkRefusal, type LinkSettings, unreachable } from './lambda-sandbox-link.ts';
import type { WorkspaceBucket } from './workspace-bucket.ts';
import { workspacePrefix } from './workspace-prefix.ts';

/** `mounted`: one folder that all sandboxes see, without any copying. */
export type SharedVolumeKind = 'bucket' | 'mounted';

export type ArchiveSettings = LinkSettings & {
  readonly bucket: () => Promise<Pick<WorkspaceBucket, 'remove' | 'removeAll'>>;
  readonly sharedVolume?: SharedVolumeKind | undefined;
};

export const makeWorkspaceArchive = (settings: ArchiveSettings): WorkspaceArchive => ({
  keepsShared: settings.sharedVolume === 'bucket',
  mountsShared: settings.sharedVolume === 'mounted',
  save: (sandbox, { id, base, logsAfter, owner, obsolete }) =>
    ask(settings, saveAnswer, {
      kind: 'save',
      ...targetOf(settings, sandbox),
      id,
      logsAfter,
      ...(obsolete === undefined ? {} : { obsolete: ruleOf(obsolete) }),
      ...(base === undefined ? {} : { base: refOf(base) }),
      ...sharedOf(settings, owner),
    }),
  restore: (sandbox, { manifest, owner, claim }) =>
    ask(settings, restoreAnswer, {
      kind: 'restore',
      ...targetOf(settings, sandbox),
      claim,
      ...(manifest === undefined ? {} : { manifest: refOf(manifest) }),
      ...sharedOf(settings, owner),
    }),
  adopt: (workspace, { id, from, base, obsolete }) =>
    ask(settings, adoptAnswer, {
      kind: 'adopt',
      workspace,
      id,
      ...(from === undefined ? {} : { from: refOf(from) }),
      ...(base === undefined ? {} : { base: refOf(base) }),
      ...(obsolete === undefined ? {} : { obsolete: ruleOf(obsolete) }),
      correlationId: settings.correlation.id(),
    }),
  compare: (workspace, states) =>
    ask(settings, compareAnswer, {
      ...{ kind: 'compare', workspace, ...statesOf(states) },
      correlationId: settings.correlation.id(),
    }),
  apply: (sandbox, { id, ...states }) =>
    ask(settings, applyAnswer, {
      ...{ kind: 'apply', ...targetOf(settings, sandbox), id, ...statesOf(states) },
    }),
  remove: async (workspace, objects) =>
    (await settings.bucket()).remove(objects.map((object) => `${workspacePrefix(workspace)}${object}`)),
  forget: async (workspace, kept = []) => {
    const prefix = workspacePrefix(workspace);
    return (await settings.bucket()).removeAll(prefix, new Set(kept.map((object) => `${prefix}${object}`)));
  },
});

const statesOf = ({ before, after }: SavedStates) => ({
  ...(before === undefined ? {} : { before: refOf(before) }),
  ...(after === undefined ? {} : { after: refOf(after) }),
});

const ruleOf = (obsolete: ObsoleteObjects) =>
  obsolete === 'later'
    ? obsolete
    : {
        kept: [...obsolete.kept],
        ...(obsolete.held === undefined ? {} : { held: [...obsolete.held] }),
      };

const sharedOf = ({ sharedVolume }: ArchiveSettings, owner: OwnerId | undefined) =>
  sharedVolume === 'bucket' && owner !== undefined ? { shared: { owner } } : {};

const targetOf = (
  { bearer, correlation }: LinkSettings,
  { address, workspaceId, generation }: LiveSandbox,
) => ({
  address,
  bearer: bearer(workspaceId, generation),
  workspace: workspaceId,
  correlationId: correlation.id(),
});

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
    if (isFaultOfOurs(cause)) throw faultOf(call, cause);
    throw isAppError(cause) ? cause : unreachable(cause);
  }
};

/** No client writes these calls: the link refuses a repeated one as well, and no other sandbox helps. */
const isFaultOfOurs = (error: unknown): boolean =>
  isAppError(error) && error.cause instanceof LinkRefusal && error.cause.status < 500;

const faultOf = ({ kind }: LinkCall, cause: unknown): AppError =>
  new AppError('internal_error', `the ${kind} of the workspace failed on our side`, { cause });
