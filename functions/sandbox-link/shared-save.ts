/**
 * Saves the shared volume: what changed in this sandbox goes to the owner's folder in the bucket, file by
 * file, and what is gone there is deleted. The last writer wins; versions of the bucket keep what was before.
 *
 * A save that breaks off may have stored a part, each file of it whole. The sandbox is told only when all is
 * stored, so the next save has the rest.
 */
import type { IncomingMessage } from 'node:http';
import { type SharedBucket, sharedPrefix } from '#shared/adapters/aws/shared-bucket.ts';
import { readArchive } from '#shared/contracts/archive.ts';
import type { SaveAnswer, SaveCall, SharedSaved } from '#shared/contracts/link.ts';
import { AppError, isAppError } from '#shared/errors.ts';
import { nameSome } from './manifest.ts';
import { readRefusal } from './sandbox-refusal.ts';
import { headersOf, openRequest } from './sandbox-request.ts';
import { type Courier, silenceMsMax } from './save.ts';
import { type SharedTaken, takeShared } from './shared-intake.ts';

export type SharedCourier = Courier & { readonly sharedBucket: SharedBucket };

/** The answer of a save with what became of the shared volume: whatever it is, the workspace's stands. */
export const withSharedSaved = async (
  call: SaveCall,
  courier: SharedCourier,
  answer: SaveAnswer,
): Promise<SaveAnswer> => {
  if (call.shared === undefined) return answer;
  try {
    const shared = await saveShared(call, call.shared.owner, courier);
    return shared === undefined ? answer : { ...answer, shared };
  } catch (error) {
    courier.telemetry.warn('a shared volume was not saved', { workspace: call.workspace, error });
    const sharedFailed = isAppError(error) ? error.message : 'the save of the shared volume broke off';
    return { ...answer, sharedFailed };
  }
};

/** Undefined where the sandbox has no shared volume: it was started before there was one. */
const saveShared = async (
  call: SaveCall,
  owner: string,
  courier: SharedCourier,
): Promise<SharedSaved | undefined> => {
  const response = await openRequest({
    target: courier.target,
    method: 'GET',
    path: `/shared/checkpoint?id=${call.id}`,
    headers: headersOf(call),
    silenceMsMax,
  });
  if (response.statusCode === 404) {
    response.destroy();
    courier.telemetry.warn('a sandbox has no shared volume', { workspace: call.workspace });
    return undefined;
  }
  if (response.statusCode === 413)
    throw new AppError('resource_limit_exceeded', (await readRefusal(response)).message);
  if (response.statusCode !== 200) {
    response.destroy();
    throw new Error(`the sandbox answered ${response.statusCode}`);
  }
  const { files, bytes, removed, leftOut, hasNews } = await receive(response, owner, courier);
  await courier.sharedBucket.remove(removed);
  if (hasNews) await settle(call, courier);
  courier.telemetry.info('a shared volume was saved', { files, bytes, removed: removed.length });
  return { files, bytes, removed: removed.length, leftOut: nameSome(leftOut) };
};

const receive = async (
  response: IncomingMessage,
  owner: string,
  { sharedBucket }: SharedCourier,
): Promise<SharedTaken> => {
  try {
    return await takeShared(readArchive(response), { bucket: sharedBucket, prefix: sharedPrefix(owner) });
  } catch (cause) {
    response.destroy();
    throw cause;
  }
};

/** A sandbox that did not hear it sends the same once more. */
const settle = async (call: SaveCall, { target, telemetry }: SharedCourier): Promise<void> => {
  try {
    const response = await openRequest({
      target,
      method: 'POST',
      path: `/shared/settle?id=${call.id}`,
      headers: headersOf(call),
      body: new Uint8Array(0),
      silenceMsMax,
    });
    response.destroy();
    if (response.statusCode !== 204) throw new Error(`the sandbox answered ${response.statusCode}`);
  } catch (error) {
    telemetry.warn('a sandbox did not hear that its shared volume is saved', { error });
  }
};
