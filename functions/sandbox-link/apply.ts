/**
 * Applies the difference of two saved states to a sandbox that runs: changed files byte for byte, modes, links, deletions.
 *
 * Everything else of its workspace stays as it is, and so do its programs. Repeating it changes nothing.
 */
import { encodeArchiveFrame } from '#shared/contracts/archive.ts';
import type { ApplyAnswer, ApplyCall } from '#shared/contracts/sandbox-link.ts';
import { entriesToWrite, pathsToRemove } from '#shared/domain/manifest-changes.ts';
import { savedChanges } from './compare.ts';
import { anotherManifest, nameSome } from './manifest.ts';
import { framesOfEntries, sendArchive } from './restore.ts';
import type { LinkContext } from './save.ts';

/** Throws when the sandbox or the bucket fails: it may have been applied in part, and is repeated. */
export const apply = async (call: ApplyCall, context: LinkContext): Promise<ApplyAnswer> => {
  const saved = await savedChanges(call, context);
  if (saved === undefined) return anotherManifest;
  const { changes, after } = saved;
  if (changes.length === 0) return { status: 'applied', files: 0, missing: [] };
  const removed = pathsToRemove(changes).map((path) => encodeArchiveFrame({ type: 'removed', path }));
  const manifest = { workspace: call.workspace, entries: entriesToWrite(changes, after) };
  const frames = framesOfEntries(manifest, context, removed);
  const answer = await sendArchive(call, context, { path: `/apply?id=${call.id}`, frames });
  if (answer === undefined) throw new Error('the sandbox applies nothing');
  const { files, missing } = answer;
  context.telemetry.info('a result was applied', {
    workspace: call.workspace,
    files,
    missing: missing.length,
  });
  return { status: 'applied', files, missing: nameSome(missing) };
};
