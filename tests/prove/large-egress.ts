/**
 * A gigabyte from a host outside through the proxy of a sandbox, and a quarter of one back: every byte arrives, and neither the
 * sandbox's server nor the platform, in which the function that holds the relay runs, needs more memory for the last quarter than for
 * the second.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Sallyport } from '#sdk/sallyport.ts';
import type { Sandbox } from '#sdk/sandbox.ts';
import { openHttpHost } from '../e2e/egress-hosts.ts';
import { startServer } from '../e2e/server.ts';
import { type Peaks, type Watched, watchPeaks } from './peak-memory.ts';
import { atMost, exactly, type Finding, type Proof } from './proof.ts';

const megabyte = 1_048_576;
const inBytes = 1024 * megabyte;
const outBytes = 256 * megabyte;
const parts = 4;
/** The collector of the runtime frees memory in steps of this order. */
const growthMegabytesMax = 64;
const watchedMegabytesMax: Readonly<Record<Watched, number>> = { platform: 1024, "sandbox's server": 192 };

/** The host, with the bytes that it has sent and their SHA-256. */
type Outside = { readonly sent: () => number; readonly sums: string[]; readonly close: () => void };

export const largeEgress: Proof = async (progress) => {
  const rows: (readonly [when: string, peaks: Peaks])[] = [];
  let look: (() => Promise<Peaks>) | undefined;
  const note = async (when: string): Promise<void> => {
    if (look === undefined) return;
    const peaks = await look();
    rows.push([when, peaks]);
    progress(`${when}: ${JSON.stringify(peaks)} MB`);
  };
  const outside = await openOutside((part) => note(`${part} of ${parts} quarters in`));
  const server = await startServer({
    variables: {
      MSB_DEFAULT_FLAVOR: 'micro',
      EGRESS_ALLOW: 'localhost',
      EGRESS_ALLOWED_PRIVATE_HOSTS: `localhost:${outside.port}`,
    },
  });
  await server.request('/api/projects/00000000-0000-4000-8000-000000000000', {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ network: { allow: ['localhost'] } }),
  });
  const sandbox = await new Sallyport(server).sandboxes.create();
  const curl = `no_proxy= NO_PROXY= curl -sS http://localhost:${outside.port}/`;
  await printed(sandbox, 'true');
  look = watchPeaks(server);
  await note('before');
  const got = await printed(sandbox, `${curl} | sha256sum`);
  const put = await printed(sandbox, `head -c ${outBytes} /dev/zero | ${curl} -T -`);
  await note('out');
  const left = await printed(sandbox, 'no_proxy= curl -sS --max-time 20 http://unlisted.example.org/');
  await note('after');
  await sandbox.stop();
  await server.stop();
  await rm(server.home, { recursive: true, force: true });
  outside.close();
  return [
    exactly('bytes that the host sent', outside.sent(), inBytes),
    equal('what came in has the SHA-256 of what was sent', got, outside.sums[0] ?? ''),
    equal('what the host received, likewise', put, `${outBytes} bytes ${zeros(outBytes)}`),
    equal(
      'the proxy refuses a host that is not listed',
      /not among the hosts/.exec(left)?.[0],
      'not among the hosts',
    ),
    ...memoryOf(rows),
  ];
};

const memoryOf = (rows: readonly (readonly [string, Peaks])[]): readonly Finding[] => {
  const quarters = rows.filter(([when]) => when.endsWith('quarters in'));
  return (['platform', "sandbox's server"] as const).flatMap((name) => {
    // In the first quarter the heaps of the functions grow to the size that they work in.
    const growth = (quarters.at(-1)?.[1][name] ?? Number.NaN) - (quarters[1]?.[1][name] ?? Number.NaN);
    return [
      ...rows.map(([when, peaks]) =>
        atMost(`peak MB, ${when}: ${name}`, peaks[name], watchedMegabytesMax[name]),
      ),
      atMost(`MB more in the last quarter than in the second: ${name}`, growth, growthMegabytesMax),
    ];
  });
};

const equal = (what: string, counted: string | undefined, wanted: string): Finding => ({
  ...{ what, counted: counted === wanted ? 'yes' : 'no', wanted: 'yes' },
  isMet: counted === wanted,
});

const printed = async (sandbox: Sandbox, command: string): Promise<string> => {
  const started = await sandbox.processes.start(command);
  let text = '';
  for await (const event of started.output()) if (event.type === 'output') text += event.text;
  return text.replace(/ +-$/m, '').trim();
};

const zeros = (bytes: number): string => {
  const hash = createHash('sha256');
  const piece = Buffer.alloc(megabyte);
  for (let at = 0; at < bytes; at += piece.length) hash.update(piece);
  return hash.digest('hex');
};

const openOutside = async (
  onPart: (part: number) => Promise<void>,
): Promise<Outside & { readonly port: number }> => {
  const sums: string[] = [];
  let sent = 0;
  const give = async (response: ServerResponse): Promise<void> => {
    const hash = createHash('sha256');
    response.writeHead(200, { 'content-length': inBytes });
    for (let index = 0; sent < inBytes; index += 1) {
      const piece = Buffer.alloc(megabyte, index % 251);
      hash.update(piece);
      sent += piece.length;
      if (!response.write(piece)) await once(response, 'drain');
      if ((sent * parts) % inBytes === 0) await onPart((sent * parts) / inBytes);
    }
    sums.push(hash.digest('hex'));
    response.end();
  };
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    response.end(`${bytes} bytes ${hash.digest('hex')}`);
  };
  const host = await openHttpHost((request, response) => {
    const serving = request.method === 'PUT' ? take(request, response) : give(response);
    serving.catch(() => response.destroy());
  });
  return { ...host, sent: () => sent, sums };
};
