/**
 * Tells a sandbox the outcome of a checkpoint that it sent. A failure is only logged: a sandbox that misses the message sends
 * the same changes again.
 */
import type { SaveCall } from '#shared/contracts/sandbox-link.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import { expectStatus, headersOf, openRequest } from './request-to-sandbox.ts';

/** It waits behind other transfers of the sandbox. */
const silenceMsMax = 60_000;

/** `path` with the ids in its query. A sandbox of an earlier release does not know that of the workspace. */
export const settle = async (
  call: SaveCall,
  { target, telemetry }: { readonly target: URL; readonly telemetry: Telemetry },
  path: `/settle?${string}` | `/shared/settle?${string}`,
): Promise<void> => {
  try {
    const response = await openRequest({
      ...{ target, method: 'POST', path, headers: headersOf(call) },
      body: new Uint8Array(0),
      silenceMsMax,
    });
    if (response.statusCode !== 404) expectStatus(response, 204);
    response.destroy();
  } catch (error) {
    telemetry.warn('a sandbox was not told what became of its checkpoint', { error });
  }
};
