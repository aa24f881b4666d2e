import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { tunnelHeaders } from '#shared/contracts/upgrade.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
import { upgradeToPort } from './port-upgrade.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval'] }));
afterEach(() => void vi.useRealTimers());

test('a client that left while its sandbox started is not asked about again', async () => {
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const head = { statusCode: 200, headers: { [tunnelHeaders.address]: 'http://127.0.0.1:1' } };
  let asked = 0;
  const invokeStreamed: FunctionHost['invokeStreamed'] = async (_name, _payload, sink) => {
    asked += 1;
    socket.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    await sink.chunk(Buffer.concat([Buffer.from(JSON.stringify(head)), Buffer.alloc(8)]));
    return { kind: 'finished' };
  };
  const request = Object.assign(new IncomingMessage(new Socket()), { url: '/api/sessions/s/ports/8000/' });
  await upgradeToPort({
    ...{ request, socket, head: Buffer.alloc(0), checkMs: 1000 },
    functions: { invokeStreamed } as FunctionHost,
    route: { resource: '/api/{proxy+}', functionName: 'api', pathParameters: null },
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(1);
});
