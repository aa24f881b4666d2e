import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openRelayClient } from './relay-client.ts';

/** A client of a relay that answers its requests with those lines, in those pieces, and then closes the connection. */
const openClient = async (pieces: (lines: string) => Iterable<Uint8Array>, ...answers: object[]) => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-relay-client-'));
  const path = join(folder, 'relay.sock');
  const lines = answers.map((answer) => `${JSON.stringify({ jsonrpc: '2.0', ...answer })}\n`).join('');
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.once('data', async () => {
      for (const piece of pieces(lines)) {
        socket.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.end();
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

test('a message that is too long is refused, and what is asked beside it is answered', async () => {
  const relay = await openClient((lines) => [Buffer.from(lines)], { id: 1, result: 'whole' });
  const asked = relay.ask('session_message', { message: 'x', wait: true });
  const long = relay.ask('platform_call_tool', { name: 'x', arguments: { text: 'x'.repeat(2 ** 20) } });
  await expect(long).rejects.toThrow('a message has at most 1048576 bytes');
  expect(await asked).toBe('whole');
});

test('a refusal without an id is said to those that are left without an answer', async () => {
  const bytes = (lines: string) => lines.split(/(?<=\n)/).map((line) => Buffer.from(line));
  const error = { code: -32600, message: 'a message is not understood' };
  const relay = await openClient(bytes, { id: null, error }, { id: 1, result: 'whole' });
  const [first, second] = [relay.ask('session_message', { message: 'x' }), relay.ask('session_events', {})];
  await expect(second).rejects.toThrow('a message is not understood');
  expect(await first).toBe('whole');
});
