/**
 * The functions as they are deployed, under Lambda's runtime interface emulator: the embedded cloud with the bundles of the functions,
 * each environment a process of the emulator. It does not stream: streaming stays with the embedded gateway.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { WebSocket } from 'ws';
import { bundleHandlers } from '../../functions/bundle.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { start as startEcs } from '../../local/ecs/start.ts';
import { wheelFile } from './installed.ts';
import { emulate } from './lambda-emulator.ts';
import type { Proof } from './proof.ts';

const toolVersion = '1.170.0';
const token = `sp_${'ef'.repeat(32)}`;

export const functionsUnderEmulator: Proof = {
  name: 'lambda',
  about: 'the bundles of all functions, under AWS’s Lambda runtime interface emulator',
  prove: async (say) => {
    const machine = process.arch === 'arm64' ? 'arm64' : 'x86_64';
    const emulator = await wheelFile({
      ...{ name: 'aws-sam-cli', version: toolVersion },
      path: `samcli/local/rapid/aws-lambda-rie-${machine}`,
    });
    const version = `the emulator of aws-sam-cli ${toolVersion}, Node ${process.version}`;
    say(version);
    const home = await mkdtemp(join(tmpdir(), 'sallyport-emulator-'));
    await using opened = new AsyncDisposableStack();
    opened.defer(() => rm(home, { recursive: true, force: true }));
    const functionsFolder = join(home, 'functions');
    await bundleHandlers(functionsFolder);
    const emulated = emulate(emulator);
    const cloud = await startCloud({
      ...{ home, port: 0, token, functionsFolder, sweepMs: neverMs },
      sandboxSecret: 'a secret of at least thirty-two characters',
      variables: { SYNTHETIC_CHECK: 'true', RATE_LIMIT_PER_SECOND: '500', RATE_LIMIT_BURST: '20000' },
      mode: { kind: 'separate', start: emulated.start },
      startSandboxHost: startEcs,
    });
    opened.defer(cloud.stop);
    const faults = await useFunctions(cloud, say);
    for (const [name, { environments, answered, failed }] of emulated.counts())
      say(
        `${name}: ${answered} answered in ${environments} environments${failed.length === 0 ? '' : `; failed: ${failed.join(', ')}`}`,
      );
    return { version, faults: [...faults, ...unexpected(emulated.counts())] };
  },
};

/** No sweep comes of itself. */
const neverMs = 2_000_000;

const names = [
  ...['authorizer', 'socket', 'on-connected', 'turn', 'terminal', 'relay', 'sandbox-link', 'task-events'],
  ...['janitor', 'schedules', 'webhooks', 'api', 'mcp', 'synthetic'],
];

type Emulation = ReturnType<typeof emulate>;

const unexpected = (counts: ReturnType<Emulation['counts']>): readonly string[] =>
  names.flatMap((name) => {
    const { answered = 0, failed = [] } = counts.get(`sallyport-${name}`) ?? {};
    const others = failed.filter((message) => !(name === 'authorizer' && message === 'Unauthorized'));
    return [
      ...(answered === 0 ? [`${name} answered nothing`] : []),
      ...others.map((message) => `${name} failed: ${message}`),
    ];
  });

/** An event of its kind for each function; the faults. */
const useFunctions = async (cloud: Cloud, say: (line: string) => void): Promise<readonly string[]> => {
  const faults: string[] = [];
  const step = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      say(`${name}: ${JSON.stringify(await work()).slice(0, 200)}`);
    } catch (error) {
      faults.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const client = new LambdaClient({
    region: 'us-east-1',
    endpoint: cloud.endpoints['AWS_ENDPOINT_URL_LAMBDA'] ?? '',
    credentials: cloud.credentials,
    maxAttempts: 1,
  });
  const invoke = async (name: string, event: object): Promise<unknown> => {
    const { Payload, FunctionError } = await client.send(
      new InvokeCommand({ FunctionName: `sallyport-${name}`, Payload: JSON.stringify(event) }),
    );
    const text = Buffer.from(Payload ?? []).toString();
    if (FunctionError !== undefined) throw new Error(text);
    return JSON.parse(text);
  };
  await step('a turn, by the synthetic check', () => invoke('synthetic', { check: 'turn', url: cloud.url }));
  await step('a sandbox, by the synthetic check', () =>
    invoke('synthetic', { check: 'sandbox', url: cloud.url }),
  );
  await step('a connection', () => firstFrame(cloud.url, token));
  await step('a connection with another token', async () => {
    const said = await refusal(cloud.url);
    if (!said.includes('401')) throw new Error(said);
    return said;
  });
  await step('the tools of MCP', () => toolsOf(cloud.url));
  for (const sweep of ['due', 'slots', 'orphans', 'seals'])
    await step(`janitor, ${sweep}`, () => invoke('janitor', { sweep }));
  await step('schedules', () => invoke('schedules', { sweep: 'schedules' }));
  await step('webhooks', () => invoke('webhooks', { sweep: 'webhooks', url: cloud.url }));
  const lost = { workspaceId: crypto.randomUUID(), generation: 1, sessionId: crypto.randomUUID() };
  await step('relay of a sandbox that is gone', () => invoke('relay', { ...lost, correlationId: 'verify' }));
  const terminal = { connectionId: 'gone', processId: crypto.randomUUID(), run: 'verify' };
  await step('terminal of a connection that is gone', () =>
    invoke('terminal', { ...terminal, correlationId: 'verify' }),
  );
  client.destroy();
  return faults;
};

const secondsMax = 60;

/** The first frame of the platform. */
const firstFrame = (url: string, given: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${given}` };
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers });
    const timer = setTimeout(() => reject(new Error(`no frame in ${secondsMax} s`)), secondsMax * 1000);
    const end = (): void => {
      clearTimeout(timer);
      socket.close();
    };
    socket.on('message', (data) => {
      end();
      resolve(String(data));
    });
    socket.on('error', (cause) => {
      end();
      reject(cause);
    });
  });

/** The status with which another token is refused. */
const refusal = (url: string): Promise<string> =>
  firstFrame(url, `sp_${'00'.repeat(32)}`).then(
    () => {
      throw new Error('a connection with a wrong token was accepted');
    },
    (cause: Error) => cause.message,
  );

const toolsOf = async (url: string): Promise<readonly string[]> => {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  const names = [...text.matchAll(/"name":"([a-z_]+)"/g)].map(([, name = '']) => name);
  if (names.length === 0) throw new Error(`no tools in ${text.slice(0, 300)}`);
  return names;
};
