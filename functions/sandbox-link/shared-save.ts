/**
 * Saves the shared volume: changes of this sandbox go to the owner's folder in the bucket, file by file, and removed
 * entries are deleted there. The last writer wins; versions of the bucket keep earlier contents.
 *
 * A save that fails may have stored a part, each file of it whole. The sandbox learns of a save only when all is
 * stored, so the next save sends the rest.
 */
import type { IncomingMessage } from 'node:http';
import { type SharedBucket, sharedPrefix } from '#shared/adapters/aws/shared-bucket.ts';
import { readArchive } from '#shared/contracts/archive.ts';
import type { SaveAnswer, SaveCall, SharedSaved } from '#shared/contracts/sandbox-link.ts';
import { AppError, isAppError } from '#shared/errors.ts';
import { nameSome } from './manifest.ts';
import { type ReceivedShared, receiveShared } from './receive-shared.ts';
import { expectStatus, headersOf, isOverBounds, openRequest, readRefusal } from './request-to-sandbox.ts';
import { type LinkContext, silenceMsMax } from './save.ts';
import { settle } from './settle.ts';

export type SharedLinkContext = LinkContext & { readonly sharedBucket: SharedBucket };

/** Adds the outcome of the shared volume to the answer of a save; it never changes that of the workspace. */
export const withSharedSaved = async (
  call: SaveCall,
  context: SharedLinkContext,
  answer: SaveAnswer,
): Promise<SaveAnswer> => {
  if (call.shared === undefined) return answer;
  try {
    const shared = await saveShared(call, call.shared.owner, context);
    return shared === undefined ? answer : { ...answer, shared };
  } catch (error) {
    context.telemetry.warn('a shared volume was not saved', { workspace: call.workspace, error });
    const sharedFailed = isAppError(error) ? error.message : 'the save of the shared volume was interrupted';
    return { ...answer, sharedFailed };
  }
};

/** Undefined for a sandbox without a shared volume: it was started before there was one. */
const saveShared = async (
  call: SaveCall,
  owner: string,
  context: SharedLinkContext,
): Promise<SharedSaved | undefined> => {
  const response = await openRequest({
    target: context.target,
    method: 'GET',
    path: `/shared/checkpoint?id=${call.id}`,
    headers: headersOf(call),
    silenceMsMax,
  });
  if (response.statusCode === 404) {
    response.destroy();
    context.telemetry.warn('a sandbox has no shared volume', { workspace: call.workspace });
    return undefined;
  }
  if (isOverBounds(response))
    throw new AppError('resource_limit_exceeded', (await readRefusal(response)).message);
  expectStatus(response, 200);
  const { files, bytes, removed, leftOut, hasChanges } = await receive(response, owner, context);
  await context.sharedBucket.remove(removed);
  if (hasChanges) await settle(call, context, `/shared/settle?id=${call.id}`);
  context.telemetry.info('a shared volume was saved', { files, bytes, removed: removed.length });
  return { files, bytes, removed: removed.length, leftOut: nameSome(leftOut) };
};

const receive = async (
  response: IncomingMessage,
  owner: string,
  { sharedBucket }: SharedLinkContext,
): Promise<ReceivedShared> => {
  try {
    return await receiveShared(readArchive(response), { bucket: sharedBucket, prefix: sharedPrefix(owner) });
  } catch (cause) {
    response.destroy();
    throw cause;
  }
};
