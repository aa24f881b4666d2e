/**
 * The hand-over of a relay, black-box: each function that holds it has so little time that it hands over to another one as soon as it looks
 * at its deadline, which a change of the network makes it do. Requests are taken up again, a tunnel ends with an error (RL6).
 */
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Sallyport } from '#sdk/sallyport.ts';
import { type OutsideHost, openHttpHost, openTcpHost } from './egress-hosts.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';

let cloud: EmbeddedCloud;
let web: OutsideHost;
let echo: OutsideHost;
/** Requests that the host has got and not answered. */
const asked: ServerResponse[] = [];
let tunnels = 0;

beforeEach(async () => {
  asked.length = 0;
  tunnels = 0;
  web = await openHttpHost((_, response) => void asked.push(response));
  echo = await openTcpHost(
    createServer((socket) => {
      tunnels += 1;
      socket.on('error', () => undefined).pipe(socket);
    }),
  );
  cloud = await openEmbeddedCloud({
    // Less than the time before its end at which a holder hands over.
    relayTimeoutMs: 40_000,
    variables: {
      MSB_DEFAULT_FLAVOR: 'micro',
      EGRESS_ALLOW: 'localhost,other.example.org',
      EGRESS_ALLOWED_PRIVATE_HOSTS: [web, echo].map(({ port }) => `localhost:${port}`).join(','),
    },
  });
  await patch('/api/projects/00000000-0000-4000-8000-000000000000', {
    network: { allow: ['localhost', 'other.example.org'] },
  });
});
afterEach(async () => {
  await cloud.stop();
  for (const host of [web, echo]) host.close();
});

type Fields = Record<string, unknown>;
const send = <T = Fields>(method: string, path: string, body: Fields): Promise<T> =>
  cloud.ask<T>(path, { method, body: JSON.stringify(body) });
const patch = (path: string, body: Fields) => send('PATCH', path, body);
type Waiting = { readonly sessionId: string; readonly callId: string; readonly digest: string };
const waiting = async () =>
  (await cloud.ask<{ readonly approvals: readonly Waiting[] }>('/api/approvals')).approvals;

test('two functions hold the relay one after the other: requests go on, a tunnel is reset', async () => {
  const { id } = await send<{ readonly id: string }>('POST', '/api/sessions', {
    provider: 'demo',
    approvals: 'ask',
  });
  const { processes } = await new Sallyport(cloud).sandboxes.get(id);
  const run = async (command: string): Promise<string> => {
    const started = await processes.start(command);
    let text = '';
    for await (const event of started.output()) if (event.type === 'output') text += event.text;
    return text.trim();
  };
  const python = [
    'import socket',
    's = socket.create_connection(("127.0.0.1", 19998))',
    `s.sendall(b"CONNECT localhost:${echo.port} HTTP/1.1\\r\\n\\r\\n")`,
    'f = s.makefile("rb"); f.readline(); f.readline(); s.sendall(b"hello\\n"); print(f.readline())',
    'try: print("ended", f.read())',
    'except ConnectionResetError: print("was reset")',
  ].join('\n');
  const tunnel = run(`python3 -c '${python}'`);
  const request = run(`no_proxy= NO_PROXY= curl -sS http://localhost:${web.port}/`);
  const message = run(`sallyport-client message '$ true' --wait`);
  await eventually(
    async () => [tunnels, asked.length, (await waiting()).length],
    (counts) => counts.every((count) => count === 1),
  );
  await patch(`/api/sessions/${id}`, { network: { allow: ['localhost'] } });
  expect(await tunnel).toContain('was reset');
  await eventually(
    async () => asked.length,
    (count) => count === 2,
  );
  asked[1]?.end('answered');
  expect(await request).toBe('answered');
  // The message was taken up by the second holder, and reached the same child.
  const [call, ...more] = await waiting();
  expect(more).toEqual([]);
  await send('POST', `/api/sessions/${call?.sessionId}/approvals/${call?.callId}`, {
    approved: true,
    digest: call?.digest,
  });
  expect(JSON.parse(await message)).toMatchObject({ session_id: call?.sessionId, finished: true });
});
