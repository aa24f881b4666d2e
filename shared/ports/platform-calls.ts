/** Calls of the platform by programs of sandboxes, which the function that has the tools answers. */
import type { PlatformAnswer, PlatformCall } from '../contracts/relay/platform-call.ts';

export interface PlatformCalls {
  /** Throws when the function cannot be reached; a refusal is an answer. */
  call(call: Omit<PlatformCall, 'kind' | 'correlationId'>, signal: AbortSignal): Promise<PlatformAnswer>;
}
