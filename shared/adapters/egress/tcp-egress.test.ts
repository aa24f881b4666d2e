import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTcpEgress } from './tcp-egress.ts';

let server: Server;
let port: number;
let connections = 0;

beforeAll(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.end('hello');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());

const resolving = (...addresses: readonly string[]) => ({
  resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
});
const textOf = async (incoming: AsyncIterable<Uint8Array>): Promise<string> => {
  const pieces: Uint8Array[] = [];
  for await (const bytes of incoming) pieces.push(bytes);
  return Buffer.concat(pieces).toString();
};

test.each([
  ['127.0.0.1'],
  ['10.0.0.1'],
  ['169.254.169.254'],
  ['::1'],
  ['::ffff:127.0.0.1'],
  ['64:ff9b::7f00:1'],
  ['fe80::1'],
  ['0.0.0.0'],
])('a listed name that resolves to %s is refused (EG3)', async (address) => {
  const egress = makeTcpEgress({ allowedPrivateHosts: [], ...resolving(address) });
  await expect(egress.connect({ host: 'a.example.org', port })).rejects.toMatchObject({ code: 'forbidden' });
});

test('one private address among public ones refuses the name', async () => {
  const egress = makeTcpEgress({ allowedPrivateHosts: [], ...resolving('192.0.43.8', '127.0.0.1') });
  await expect(egress.connect({ host: 'a.example.org', port })).rejects.toMatchObject({ code: 'forbidden' });
  expect(connections).toBe(0);
});

test('a host that the operator names may be private, on its port alone', async () => {
  const egress = makeTcpEgress({ allowedPrivateHosts: [`a.example.org:${port}`], ...resolving('127.0.0.1') });
  const { incoming } = await egress.connect({ host: 'a.example.org', port });
  expect(await textOf(incoming)).toBe('hello');
  await expect(egress.connect({ host: 'a.example.org', port: port + 1 })).rejects.toMatchObject({
    code: 'forbidden',
  });
});

test('the next address of a name is tried, and a host that takes no connection is unavailable', async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => free.once('listening', resolve));
  const closed = (free.address() as AddressInfo).port;
  await new Promise((resolve) => free.close(resolve));
  const egress = makeTcpEgress({
    allowedPrivateHosts: ['a.example.org'],
    ...resolving('127.0.0.2', '127.0.0.1'),
  });
  const { incoming } = await egress.connect({ host: 'a.example.org', port });
  expect(await textOf(incoming)).toBe('hello');
  await expect(egress.connect({ host: 'a.example.org', port: closed })).rejects.toMatchObject({
    code: 'sandbox_unavailable',
  });
});

test('a name without an address is said', async () => {
  const resolve = () => Promise.reject(new Error('ENOTFOUND'));
  const egress = makeTcpEgress({ allowedPrivateHosts: [], resolve });
  await expect(egress.connect({ host: 'a.example.org', port })).rejects.toMatchObject({
    code: 'sandbox_unavailable',
    message: 'a.example.org: its name cannot be resolved',
  });
});
