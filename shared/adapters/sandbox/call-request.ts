/** The request of a tool's call in a sandbox, and the time that its answer may take. */
import { savedAsHeader } from '#shared/contracts/sandbox-call.ts';
import { executionSecondsMax, toolTimeoutSeconds } from '#shared/domain/limits.ts';
import type { LinkRequest, SandboxCall } from '#shared/ports/sandbox.ts';

/** Without `waitMs` it is answered when the call has ended. */
export type AskedCall = SandboxCall & { readonly waitMs?: number | undefined };

export const callPath = (callKey: string): string => `/calls/${encodeURIComponent(callKey)}`;

export const callRequest = (
  { callKey, name, args, waitMs, savedAs }: AskedCall,
  signal: AbortSignal,
): LinkRequest => ({
  method: 'POST',
  path: callPath(callKey),
  headers: {
    'content-type': 'application/json',
    ...(savedAs === undefined ? {} : { [savedAsHeader]: savedAs }),
  },
  body: JSON.stringify({ name, arguments: args, waitMs }),
  signal,
});

/** Time of a call beyond the tool's own timeout: the way there and back, and the kill. */
export const marginMs = 30_000;

/** Milliseconds from the request to the end of its answer. */
export const callMsMax = ({ args }: SandboxCall): number => {
  const asked = typeof args['timeout'] === 'number' ? args['timeout'] : toolTimeoutSeconds;
  // The sandbox refuses a longer one; a timer over 24 days would fire at once.
  return Math.min(Math.max(asked, 0), executionSecondsMax) * 1000 + marginMs;
};
