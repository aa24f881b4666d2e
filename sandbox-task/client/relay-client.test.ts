import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openRelayClient } from './relay-client.ts';

test('an answer is whole, whatever line ends of Unicode it holds and wherever its pieces end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-relay-client-'));
  const path = join(folder, 'relay.sock');
  const result = { text: 'a\u2028b\u2029c\u0085€' };
  const server = createServer((socket) => {
    socket.once('data', async () => {
      const answer = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n`);
      for (const byte of answer) {
        socket.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
  });
  server.listen(path);
  await once(server, 'listening');
  const relay = openRelayClient(path);
  onTestFinished(async () => {
    relay.close();
    server.close();
    await rm(folder, { recursive: true, force: true });
  });
  expect(await relay.ask('session_events', {})).toEqual(result);
});
