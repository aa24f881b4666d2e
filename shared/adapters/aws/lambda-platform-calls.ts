/** `PlatformCalls` over an invocation of the function that has the platform's tools; its answer is a stream, read to its end. */
import type { PlatformAnswer } from '#shared/contracts/relay/platform-call.ts';
import { relayLineBytesMax } from '#shared/domain/relay/limits.ts';
import type { PlatformCalls } from '#shared/ports/platform-calls.ts';
import { invokeLink, type LinkSettings } from './lambda-sandbox-link.ts';

export const makePlatformCalls = (
  settings: Pick<LinkSettings, 'client' | 'functionName' | 'correlation'>,
): PlatformCalls => ({
  call: async (call, signal) => {
    const correlationId = settings.correlation.id();
    const response = await invokeLink(settings, { kind: 'platform-call', ...call, correlationId }, signal);
    const text = await response.text();
    if (!response.ok) throw new Error(`the function of the tools answered ${response.status}`);
    if (Buffer.byteLength(text) > 2 * relayLineBytesMax) throw new Error('an answer over its bound');
    return JSON.parse(text) as PlatformAnswer;
  },
});
