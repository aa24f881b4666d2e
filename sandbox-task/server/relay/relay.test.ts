/** The sandbox's end of the relay in a real sandbox: who holds it, what a cut costs, and what a program is told. */

import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RelayTarget } from '#shared/contracts/relay/frame.ts';
import { createRelayPeer, type RelayStream } from '#shared/contracts/relay/peer.ts';
import { freePort } from '../ports-fixture.ts';
import { startTestSandbox, type TestSandbox, waitFor } from '../sandbox-fixture.ts';

let sandbox: TestSandbox;
let proxyPort: number;

beforeEach(async () => {
  proxyPort = await freePort();
  sandbox = await startTestSandbox({ SANDBOX_PROXY_PORT: String(proxyPort) });
});
afterEach(() => sandbox.stop());

const json = { 'content-type': 'application/json' };
const setNetwork = (hasNetwork: boolean) =>
  sandbox.ask('PUT', '/environment', {
    headers: json,
    body: JSON.stringify({ variables: {}, ...(hasNetwork ? { hasNetwork: true } : {}) }),
  });
const hold = async (holder: string, more: object = {}) =>
  (
    await sandbox.ask('POST', '/relay/hold', {
      headers: json,
      body: JSON.stringify({ holder, idleSeconds: 30, ...more }),
    })
  ).status;
const execute = async (command: string) => {
  const { content } = await sandbox.callTool('execute_command', { command, timeout: 60 });
  return content[0]?.text ?? '';
};
const curl = 'curl -sS -w " %{http_code}" -x http://127.0.0.1:';

/** A holder as the platform has it, whose requests may be cut: it answers each stream with what it was sent. */
const openHolder = (holder: string, { cutAfterBytes = Number.POSITIVE_INFINITY } = {}) => {
  const targets: RelayTarget[] = [];
  const replies: ((bytes: Uint8Array, stream: RelayStream) => void)[] = [];
  let [received, sent, isOver] = [0, 0, false];
  let queue: Uint8Array[] = [];
  let cuts = 0;
  const peer = createRelayPeer({
    send: (frame) => void queue.push(frame),
    onOpen: (target, stream) => {
      targets.push(target);
      stream.accept();
      let writing: Promise<unknown> = Promise.resolve();
      return {
        onData: (bytes) => {
          stream.take(bytes.length);
          for (const reply of replies) reply(bytes, stream);
          if (replies.length === 0) writing = writing.then(() => stream.write(bytes));
        },
        onEnd: () => void writing.then(() => stream.end()),
        onReset: () => undefined,
      };
    },
  });
  const readOnce = async (): Promise<number> => {
    const path = `/relay/upstream?holder=${holder}&after=${received}`;
    const answer = await sandbox.open('GET', path);
    let carried = 0;
    try {
      for await (const chunk of answer) {
        const bytes = chunk as Buffer;
        const kept = bytes.subarray(0, Math.max(0, cutAfterBytes - carried));
        received += kept.length;
        carried += kept.length;
        peer.receive(kept);
        if (kept.length < bytes.length) {
          cuts += 1;
          answer.destroy();
          break;
        }
      }
    } catch {
      // It was cut.
    }
    return answer.statusCode ?? 0;
  };
  const read = async (): Promise<number> => {
    for (;;) {
      const status = await readOnce();
      if (isOver || status !== 200) return status;
    }
  };
  const write = async (): Promise<void> => {
    while (!isOver) {
      const batch = Buffer.concat(queue);
      queue = [];
      if (batch.length === 0) {
        await delay(2);
        continue;
      }
      const path = `/relay/downstream?holder=${holder}&offset=${sent}&ack=${received}`;
      // Everything is sent twice, as after a cut.
      for (const _ of [1, 2]) await sandbox.ask('POST', path, { body: batch });
      sent += batch.length;
    }
  };
  const reading = read();
  const writing = write();
  return {
    targets,
    replies,
    reading,
    cuts: () => cuts,
    close: async () => {
      isOver = true;
      await writing;
    },
  };
};

const [first, second, third] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];

/** Bytes that no holder sends: they end the relay. */
const sendBroken = (holder: string) => {
  const broken = Buffer.from([9, 0, 0, 0, 1, 0, 0, 0, 0]);
  return sandbox.ask('POST', `/relay/downstream?holder=${holder}&offset=0&ack=0`, { body: broken });
};

test('without a network every host is refused, and programs learn of no proxy', async () => {
  expect(await execute(`env | grep -ci proxy`)).toContain('0');
  expect(await execute(`${curl}${proxyPort} http://a.example.org/`)).toContain('has no network');
});

test('programs of a sandbox with a network find the proxy by their own variables', async () => {
  await setNetwork(true);
  const shown = await execute('env | sort; git config http.proxy; npm config get proxy');
  for (const name of [
    'http_proxy',
    'https_proxy',
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'PIP_PROXY',
    'npm_config_proxy',
  ])
    expect(shown).toContain(`${name}=http://127.0.0.1:${proxyPort}\n`);
  expect(shown.split(`http://127.0.0.1:${proxyPort}`).length - 1).toBeGreaterThanOrEqual(9);
});

test('one holder has the relay, until it hands over (RL1)', async () => {
  await setNetwork(true);
  expect(await hold(first)).toBe(204);
  expect(await hold(first)).toBe(204);
  expect(await hold(second)).toBe(409);
  expect(await hold(second, { replaces: third })).toBe(409);
  expect(await hold(second, { replaces: first })).toBe(204);
  expect((await sandbox.ask('GET', `/relay/upstream?holder=${first}&after=0`)).status).toBe(409);
  expect((await sandbox.ask('POST', `/relay/release?holder=${second}`)).status).toBe(204);
  expect(await hold(third)).toBe(204);
});

test('no byte is lost or doubled when every answer is cut and every request repeated (RL2)', async () => {
  await setNetwork(true);
  await hold(first);
  const holder = openHolder(first, { cutAfterBytes: 50_000 });
  const python = [
    'import socket, threading',
    `s = socket.create_connection(("127.0.0.1", ${proxyPort}))`,
    's.sendall(b"CONNECT a.example.org:443 HTTP/1.1\\r\\n\\r\\n")',
    'f = s.makefile("rb"); f.readline(); f.readline()',
    'sent = bytes(i * 7 % 251 for i in range(2000000))',
    't = threading.Thread(target=lambda: (s.sendall(sent), s.shutdown(socket.SHUT_WR))); t.start()',
    'print(f.read() == sent)',
  ].join('\n');
  expect(await execute(`python3 -c '${python}'`)).toContain('True');
  expect(holder.cuts()).toBeGreaterThan(20);
  expect(holder.targets).toEqual([{ type: 'egress', via: 'tunnel', host: 'a.example.org', port: 443 }]);
  await holder.close();
});

test('a program waits for a holder while a call runs, and is told at once when none does (RL4)', async () => {
  await setNetwork(true);
  const waiting = execute(`${curl}${proxyPort} http://a.example.org:81/x`);
  await delay(300);
  await hold(first);
  const holder = openHolder(first);
  holder.replies.push((_, stream) => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok';
    void stream.write(Buffer.from(answer)).then(() => stream.end());
  });
  expect(await waiting).toContain('ok 200');
  expect(holder.targets[0]).toMatchObject({ via: 'http', host: 'a.example.org', port: 81 });
  await holder.close();

  await sandbox.ask('POST', `/relay/release?holder=${first}`);
  await hold(second);
  // It hands over to nobody, and no call runs: the program outlives its call.
  const alone = `nohup sh -c 'while [ ! -e go ]; do sleep 0.05; done; ${curl}${proxyPort} http://b.example.org/ > said.new; mv said.new said' > /dev/null 2>&1 &`;
  await execute(alone);
  expect((await sendBroken(second)).status).toBe(400);
  await sandbox.ask('PUT', '/files/go', { body: '' });
  const said = () => sandbox.ask('GET', '/files/said');
  await waitFor(async () => (await said()).status === 200);
  expect((await said()).body.toString()).toMatch(/^nothing holds the other end of the relay.* 503$/s);
});

test('programs of a call are told soon when the platform says that it cannot hold the relay (RL4)', async () => {
  await setNetwork(true);
  expect((await sandbox.ask('POST', '/relay/dismiss')).status).toBe(204);
  expect(await execute(`${curl}${proxyPort} http://a.example.org/`)).toMatch(/try again in a minute.* 503$/s);
});

test('a relay that nobody needs lets its holder go (RL5)', async () => {
  await setNetwork(true);
  await hold(first, { idleSeconds: 1 });
  const holder = openHolder(first);
  expect(await holder.reading).toBe(204);
  await holder.close();
  expect(await hold(second)).toBe(204);
});

test('a request that is open when the relay is handed over is made again, one with a body ends with a reason (RL6)', async () => {
  await setNetwork(true);
  await hold(first);
  const holder = openHolder(first);
  // One whose stream is not open yet is made again, too: nothing of it has left the sandbox.
  const begun = new Set<RelayStream>();
  holder.replies.push((_, stream) => void begun.add(stream));
  const read = execute(`${curl}${proxyPort} http://a.example.org/x`);
  const sent = execute(`${curl}${proxyPort} -d y http://a.example.org/y`);
  await waitFor(async () => begun.size === 2);
  await sandbox.ask('POST', `/relay/release?holder=${first}`);
  expect(await sent).toMatch(/the relay was handed over.* 502/s);
  await hold(second, { replaces: first });
  const next = openHolder(second);
  next.replies.push((_, stream) => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok';
    void stream.write(Buffer.from(answer)).then(() => stream.end());
  });
  expect(await read).toContain('ok 200');
  expect(next.targets).toHaveLength(1);
  await Promise.all([holder.close(), next.close()]);
});

test('a tunnel that is open when the relay is handed over is reset, not ended (RL6)', async () => {
  await setNetwork(true);
  await hold(first);
  const holder = openHolder(first);
  const python = [
    'import socket',
    `s = socket.create_connection(("127.0.0.1", ${proxyPort}))`,
    's.sendall(b"CONNECT a.example.org:81 HTTP/1.1\\r\\n\\r\\n")',
    'f = s.makefile("rb"); f.readline(); f.readline()',
    's.sendall(b"hello\\n"); f.readline(); open("echoed", "w").close()',
    'try: print("ended", f.read())',
    'except ConnectionResetError: print("was reset")',
  ].join('\n');
  const open = execute(`python3 -c '${python}'`);
  await waitFor(async () => (await sandbox.ask('GET', '/files/echoed')).status === 200);
  await sandbox.ask('POST', `/relay/release?holder=${first}`);
  expect(await open).toContain('was reset');
  await holder.close();
});

test('what is open stays open when the network is taken away: its holder ends what needs one (EG1)', async () => {
  await setNetwork(true);
  await hold(first);
  const holder = openHolder(first);
  const begun = Promise.withResolvers<RelayStream>();
  holder.replies.push((_, stream) => begun.resolve(stream));
  const open = execute(`${curl}${proxyPort} http://a.example.org:81/x`);
  const stream = await begun.promise;
  await setNetwork(false);
  expect(await execute(`${curl}${proxyPort} http://a.example.org:81/`)).toContain('has no network');
  expect(await hold(second)).toBe(409);
  stream.reset({ status: 403, message: 'its holder says so' });
  expect(await open).toContain('its holder says so');
  await holder.close();
});

test('a gap in the bytes, and bytes of nobody, are refused', async () => {
  await setNetwork(true);
  await hold(first);
  const send = async (holder: string, offset: number) =>
    (await sandbox.ask('POST', `/relay/downstream?holder=${holder}&offset=${offset}&ack=0`, { body: 'x' }))
      .status;
  expect([await send(first, 5), await send(second, 0), await send(first, -1)]).toEqual([409, 409, 400]);
  expect((await sendBroken(first)).status).toBe(400);
  expect(await hold(second)).toBe(204);
});

test('requests that no proxy can carry are refused with a sentence', async () => {
  await setNetwork(true);
  await hold(first);
  const raw = async (request: string) => {
    const python = [
      'import socket',
      `s = socket.create_connection(("127.0.0.1", ${proxyPort}))`,
      `s.sendall(b"${request}\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n"); print(s.makefile("rb").read().decode())`,
    ].join('\n');
    return execute(`python3 -c '${python}'`);
  };
  for (const request of ['GET /x HTTP/1.1', 'GET https://a.org/ HTTP/1.1', 'GET http://u@a.org/ HTTP/1.1'])
    expect([request, await raw(request)]).toEqual([request, expect.stringContaining('HTTP/1.1 400')]);
  // Programs show the status line of this answer, not its body.
  for (const request of [
    'CONNECT a.org HTTP/1.1',
    'CONNECT a.org:0 HTTP/1.1',
    'CONNECT a.org:99999 HTTP/1.1',
  ])
    expect([request, await raw(request)]).toEqual([
      request,
      expect.stringContaining('HTTP/1.1 400 the port cannot be read'),
    ]);
  for (const [request, status] of [
    ['CONNECT b\\xc3\\xbccher.org:443 HTTP/1.1', 400],
    ['GET http://a.org/\\t HTTP/1.1', 400],
    ['POST http://a.org/ HTTP/1.1\\r\\ncontent-length: 3\\r\\ncontent-length: 30', 400],
    ['POST http://a.org/ HTTP/1.1\\r\\ncontent-length: 3\\r\\ntransfer-encoding: chunked', 400],
    ['GET http://a.org/ HTTP/1.1\\r\\nx: a\\r\\n b', 400],
    ['GET http://a.org/ HTTP/1.1\\r\\nx: " + b"a" * 70000 + b"', 431],
  ] as const)
    expect([request, await raw(request)]).toEqual([
      request,
      expect.stringMatching(new RegExp(`^HTTP/1\\.1 ${status} .*the request cannot be read\n`, 's')),
    ]);
});
