/** A timer that lets input be handled first. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { startInputTimeout } from './input-timeout.ts';

test('what has arrived while the thread stood still is handled before the timer passes', async () => {
  const server = createServer((socket) => void socket.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const handled: string[] = [];
  const passed = Promise.withResolvers<void>();
  const socket = connect({ host: '127.0.0.1', port: (server.address() as { readonly port: number }).port });
  socket.once('connect', () => handled.push('connected'));
  startInputTimeout(10, () => {
    handled.push('passed');
    passed.resolve();
  });
  await new Promise(setImmediate);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  await passed.promise;
  expect(handled).toEqual(['connected', 'passed']);
  socket.destroy();
  server.close();
});

test('it passes when nothing comes, and not once it is stopped', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const stop = startInputTimeout(1, () => resolve('the stopped one'));
  stop();
  startInputTimeout(2, () => resolve('the other'));
  expect(await promise).toBe('the other');
});
