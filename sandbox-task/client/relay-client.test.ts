import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openRelayClient } from './relay-client.ts';

/** A client of a relay that answers the first request with those pieces. */
const openClient = async (pieces: (line: string) => Iterable<Uint8Array>, line: object) => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-relay-client-'));
  const path = join(folder, 'relay.sock');
  const server = createServer((socket) => {
    socket.once('data', async () => {
      for (const piece of pieces(`${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`)) {
        socket.write(piece);
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
  return relay;
};

test('an answer is whole, whatever line ends of Unicode it holds and wherever its pieces end', async () => {
  const result = { text: 'a\u2028b\u2029c\u0085€' };
  const bytes = (line: string) => [...Buffer.from(line)].map((byte) => Buffer.of(byte));
  const relay = await openClient(bytes, { id: 1, result });
  expect(await relay.ask('session_events', {})).toEqual(result);
});

test('a refusal of a line that could not be read is said to all who wait', async () => {
  const error = { code: -32600, message: 'the message is too long' };
  const relay = await openClient((line) => [Buffer.from(line)], { id: null, error });
  const asked = [relay.ask('session_message', { message: 'x' }), relay.ask('session_events', {})];
  for (const one of asked) await expect(one).rejects.toThrow('the message is too long');
});
