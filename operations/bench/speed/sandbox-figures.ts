/** Work in a sandbox by each way in, compared with bubblewrap alone and with direct requests to the sandbox's server. */
import { setTimeout as delay } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Sallyport } from '#sdk/main.ts';
import { runBareNode, startBareServer } from './bare-sandbox.ts';
import { beside, timed } from './beside.ts';
import type { Figure, Target } from './figures.ts';
import { type Ask, askOf, makeSession, type Platform } from './platform.ts';

type Work = () => Promise<unknown>;

const text = 'a line of a file\n'.repeat(1000);
const cell = 'x = 1 + 1';
const path = 'bench.txt';

const atMost = (bound: number): Target => ({ of: 'ratio', is: 'at most', bound });

export const sandboxFigures = async (platform: Platform, tries: number): Promise<readonly Figure[]> => {
  await using closing = new AsyncDisposableStack();
  const ask = askOf(platform);
  const mcp = await openMcp(platform);
  closing.defer(() => mcp.close());
  const firstTries = Math.max(3, Math.ceil(tries / 3));
  const first = await newSessions({ mcp, ask }, firstTries, { name: 'a new session', flavor: 'micro' });
  const cold = await newSessions({ mcp, ask }, firstTries, {
    name: 'a new session, of a size that is not in the pool',
    flavor: 'medium',
  });
  const bare = await startBareServer();
  closing.defer(bare.close);
  const id = await makeSession(ask, { kind: 'execution', flavor: 'micro' });
  const { sandboxes } = new Sallyport({ url: platform.url, token: platform.token });
  const sandbox = await sandboxes.get(id);
  const session = { session_id: id };
  const post = (at: string, body: object): Work => {
    const init = { method: 'POST', body: JSON.stringify(body) };
    return async () => (await ask(`/api/sessions/${id}/${at}`, init)).arrayBuffer();
  };
  const put = { method: 'PUT', body: text, headers: { 'content-type': 'application/octet-stream' } };
  const ways: readonly (readonly [string, Work, Readonly<Record<string, Work>>])[] = [
    [
      'a command',
      () => bare.call('execute_command', { command: 'true' }),
      {
        '/mcp': () => mcp.call('execute_command', { command: 'true', ...session }),
        REST: post('exec', { command: 'true' }),
        'the client library': () => sandbox.exec('true'),
      },
    ],
    [
      'a code cell',
      () => bare.call('execute_code', { code: cell, language: 'python' }),
      {
        '/mcp': () => mcp.call('execute_code', { code: cell, ...session }),
        REST: post('code', { code: cell }),
        'the client library': () => sandbox.code(cell),
      },
    ],
    [
      'a file written',
      () => bare.call('write_file', { path, content: text }),
      {
        '/mcp': () => mcp.call('write_file', { path, content: text, ...session }),
        REST: async () => (await ask(`/api/sessions/${id}/files/${path}`, put)).arrayBuffer(),
        'the client library': () => sandbox.files.write(path, text),
      },
    ],
  ];
  const figures: Figure[] = [first, cold];
  for (const [what, floor, works] of ways)
    for (const [way, work] of Object.entries(works))
      figures.push(
        await beside({
          ...{ name: `${what} in a running session by ${way}`, unit: 'ms', tries },
          measure: () => timed(work),
          floor: { name: "the sandbox's server", measure: () => timed(floor) },
          ...(what === 'a command' ? { target: atMost(3) } : {}),
        }),
      );
  return figures;
};

type Kind = { readonly name: string; readonly flavor: string };

/** Each try makes a session on a platform at rest, and ends it unmeasured. */
const newSessions = (
  { mcp, ask }: { readonly mcp: Mcp; readonly ask: Ask },
  tries: number,
  { name, flavor }: Kind,
): Promise<Figure> =>
  beside({
    ...{ name: `execute_command true with ${name}`, unit: 'ms', tries, target: atMost(4) },
    floor: { name: 'bubblewrap with node -e 0', measure: () => timed(runBareNode) },
    measure: async () => {
      await untilPoolIsFull(ask);
      let made: Readonly<Record<string, unknown>> = {};
      const ms = await timed(async () => {
        made = await mcp.call('execute_command', { command: 'true', flavor });
      });
      await ask(`/api/sessions/${String(made['session_id'])}`, { method: 'DELETE' });
      return ms;
    },
  });

const poolWaitMsMax = 120_000;
/** The record of a warm sandbox is ready before its server is. */
const settleMs = 2000;

const untilPoolIsFull = async (ask: Ask): Promise<void> => {
  for (const until = performance.now() + poolWaitMsMax; ; await delay(100)) {
    const { pool } = (await (await ask('/api/stats')).json()) as { readonly pool: Pool };
    if (pool.ready === pool.target) return delay(settleMs);
    if (performance.now() > until) throw new Error('the warm pool is not filled');
  }
};

type Pool = { readonly ready: number; readonly target: number };

type Mcp = {
  readonly call: (
    name: string,
    args: Readonly<Record<string, unknown>>,
  ) => Promise<Readonly<Record<string, unknown>>>;
  readonly close: () => Promise<void>;
};

const openMcp = async ({ url, token }: Platform): Promise<Mcp> => {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return {
    call: async (name, args) => {
      const { isError, content, structuredContent } = await client.callTool({ name, arguments: args });
      if (isError) throw new Error(JSON.stringify(content));
      return (structuredContent ?? {}) as Readonly<Record<string, unknown>>;
    },
    close: () => client.close(),
  };
};
