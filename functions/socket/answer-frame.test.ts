/** A frame of a connection that sends too many: refused with one `error`, then silently, and never acted on. */
import { expect, test } from 'vitest';
import type { FrameVerdict } from '#shared/application/access/frame-meter.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import { answerFrame, type FramePorts, type FrameSettings } from './answer-frame.ts';

const answers = async (verdict: FrameVerdict, body: string) => {
  const posted: { readonly type: string; readonly data: { readonly error?: { readonly code: string } } }[] =
    [];
  const known = {
    frameMeter: { take: async () => verdict, forget: () => undefined },
    sockets: {
      post: async (_id: string, text: string) => void posted.push(JSON.parse(text)),
      close: async () => {
        throw new Error('the connection stays');
      },
    },
    telemetry: { info: () => undefined },
    world: { now: () => 1000 },
    adminTokenHash: 'hash',
  };
  const request = {
    ...{ connectionId: 'c' as ConnectionId, sessionId: 's' as SessionId, query: {}, subprotocols: [], body },
    ...{ acceptedAt: 1000, correlationId: 'r' },
    principal: { owner: deploymentOwner, scope: 'admin' as const, tokenHash: 'hash' },
  };
  // No other port exists for a frame.
  await answerFrame(known as unknown as FramePorts, request, {} as FrameSettings);
  return posted.map(({ type, data }) => [type, data.error?.code]);
};

const ping = '{"action":"ping"}';
const stop = '{"action":"session:stop"}';

test('a frame within the rate is answered', async () => {
  expect(await answers('allowed', ping)).toEqual([['pong', undefined]]);
});

test.each([ping, stop, 'no JSON'])(
  '%s above the rate has no effect, and gets at most one error',
  async (body) => {
    expect(await answers('refused', body)).toEqual([['error', 'rate_limited']]);
    expect(await answers('quiet', body)).toEqual([]);
  },
);
