import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { connect } from 'node:tls';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readFirstBytes } from './client-hello.ts';
import { judgeFirstBytes, openTunnelGate } from './first-bytes.ts';
import { clientHelloPiecesMax } from './limits.ts';

/** The first bytes of Node's own TLS client. */
const greeting = async (servername: string): Promise<Uint8Array> => {
  const server = createServer().listen(0, '127.0.0.1');
  const arrived = Promise.withResolvers<Uint8Array>();
  server.once('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => {
      arrived.resolve(Uint8Array.from(bytes));
      socket.destroy();
    });
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const client = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false });
  client.on('error', () => undefined);
  const bytes = await arrived.promise;
  client.destroy();
  server.close();
  return bytes;
};

/** The same message in records of so many bytes. */
const inRecords = (hello: Uint8Array, size: number): Uint8Array => {
  const message = hello.subarray(5);
  const records: number[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(22, 3, 1, part.length >> 8, part.length & 255, ...part);
  }
  return Uint8Array.from(records);
};

describe('the server name of a greeting', () => {
  test('is read, whole and in records of any size', async () => {
    const hello = await greeting('packages.example.org');
    const read = { kind: 'hello', serverName: 'packages.example.org' };
    expect(readFirstBytes(hello)).toEqual(read);
    for (const size of [1, 2, 3, 7, 100, 1000]) expect(readFirstBytes(inRecords(hello, size))).toEqual(read);
  });

  test('is awaited while the greeting is not whole', async () => {
    const hello = await greeting('a.example.org');
    for (let end = 0; end < hello.length; end += 1)
      expect(readFirstBytes(hello.subarray(0, end))).toEqual({ kind: 'partial' });
  });

  test('is missing when the client names none', async () => {
    expect(readFirstBytes(await greeting(''))).toEqual({ kind: 'hello' });
  });

  test('bytes that begin no record of TLS are plain', () => {
    expect(readFirstBytes(new TextEncoder().encode('GET / HTTP/1.1\r\n'))).toEqual({ kind: 'plain' });
    expect(readFirstBytes(new TextEncoder().encode('SSH-2.0-x\r\n'))).toEqual({ kind: 'plain' });
  });

  test('any bytes are read without an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        readFirstBytes(bytes);
        readFirstBytes(Uint8Array.from([22, 3, 1, 0, bytes.length & 255, 1, 0, 0, ...bytes]));
      }),
    );
  });

  test('a greeting with a changed byte never gets another name than a reader would see', async () => {
    const hello = await greeting('a.example.org');
    fc.assert(
      fc.property(fc.nat(hello.length - 1), fc.nat(255), (at, value) => {
        const changed = Uint8Array.from(hello);
        changed[at] = value;
        const first = readFirstBytes(changed);
        if (first.kind !== 'hello' || first.serverName === undefined) return;
        expect(Buffer.from(changed).toString('latin1').toLowerCase()).toContain(first.serverName);
      }),
    );
  });
});

describe('the first bytes of a tunnel (EG5)', () => {
  test('pass if they name the host of the tunnel', async () => {
    const hello = await greeting('a.example.org');
    expect(judgeFirstBytes({ host: 'A.example.org.', port: 443 }, hello)).toEqual({ verdict: 'pass' });
    expect(judgeFirstBytes({ host: 'b.example.org', port: 8443 }, hello)).toMatchObject({
      verdict: 'refuse',
    });
  });

  test('name no server only for an address', async () => {
    const hello = await greeting('');
    expect(judgeFirstBytes({ host: '203.0.113.1', port: 443 }, hello)).toEqual({ verdict: 'pass' });
    expect(judgeFirstBytes({ host: '[2001:db8::1]', port: 443 }, hello)).toEqual({ verdict: 'pass' });
    expect(judgeFirstBytes({ host: 'a.example.org', port: 443 }, hello)).toMatchObject({ verdict: 'refuse' });
  });

  test('must be TLS on port 443 alone', () => {
    const plain = new TextEncoder().encode('SSH-2.0-x\r\n');
    expect(judgeFirstBytes({ host: 'a.org', port: 443 }, plain)).toMatchObject({ verdict: 'refuse' });
    expect(judgeFirstBytes({ host: 'a.org', port: 22 }, plain)).toEqual({ verdict: 'pass' });
  });

  test('are held back until they are judged, and nothing is lost', async () => {
    const hello = await greeting('a.example.org');
    const gate = openTunnelGate({ host: 'a.example.org', port: 443 });
    expect(gate(hello.subarray(0, 10))).toEqual({ verdict: 'wait' });
    expect(gate(hello.subarray(10, 50))).toEqual({ verdict: 'wait' });
    expect(gate(hello.subarray(50))).toEqual({ verdict: 'pass', bytes: hello });
    const more = Uint8Array.from([1, 2]);
    expect(gate(more)).toEqual({ verdict: 'pass', bytes: more });
  });

  test('come in a bounded number of pieces', async () => {
    const hello = await greeting('a.example.org');
    const gate = openTunnelGate({ host: 'a.example.org', port: 443 });
    const verdicts = Array.from({ length: clientHelloPiecesMax + 1 }, (_, at) =>
      gate(hello.subarray(at, at + 1)),
    );
    expect(verdicts.at(-2)).toEqual({ verdict: 'wait' });
    expect(verdicts.at(-1)).toMatchObject({ verdict: 'refuse' });
  });
});
