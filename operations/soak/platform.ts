/** The platform as the soak holds it: started, killed, started again on the same folder and port, and stopped. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Credentials } from '../../local/endpoint/account.ts';

export type ToPlatform = 'kill functions';
export type FromPlatform =
  | { readonly type: 'functions killed' }
  | {
      readonly type: 'ready';
      readonly url: string;
      readonly token: string;
      readonly endpoints: Readonly<Record<string, string>>;
      readonly credentials: Credentials;
    };
type Ready = Extract<FromPlatform, { type: 'ready' }>;

export type Item = Readonly<Record<string, unknown>>;

export type Platform = {
  readonly url: string;
  readonly token: string;
  readonly pid: () => number;
  /** Of the endpoints inside, for this life. */
  readonly inside: () => Pick<Ready, 'endpoints' | 'credentials'>;
  readonly killFunctions: () => Promise<void>;
  /** As a power cut of the program, and its next start. */
  readonly restart: () => Promise<void>;
  /** All that stands in the table. */
  readonly items: () => Promise<readonly Item[]>;
  readonly stop: () => Promise<void>;
};

const repository = join(import.meta.dirname, '..', '..');
const startMsMax = 300_000;

export type PlatformOptions = {
  readonly home: string;
  /** 0: a free one, which later lives keep. */
  readonly port: number;
  readonly variables: Readonly<Record<string, string>>;
};

type Life = { readonly child: ChildProcess; readonly ready: Ready };

export const startPlatform = async ({ home, port, variables }: PlatformOptions): Promise<Platform> => {
  const begin = (at: number): Promise<Life> =>
    startLife({ ...variables, SALLYPORT_HOME: home, PORT: String(at) });
  let life = await begin(port);
  const { url, token } = life.ready;
  return {
    ...{ url, token },
    pid: () => life.child.pid ?? 0,
    inside: () => life.ready,
    killFunctions: async () => {
      life.child.send('kill functions' satisfies ToPlatform);
      await once(life.child, 'message');
    },
    restart: async () => {
      await end(life.child, 'SIGKILL');
      life = await begin(Number(new URL(url).port));
    },
    items: () => scan(life.ready),
    stop: () => end(life.child, 'SIGTERM'),
  };
};

const startLife = async (variables: Readonly<Record<string, string>>): Promise<Life> => {
  const program = [process.execPath, join(import.meta.dirname, 'platform-process.ts')];
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', ...program], {
    env: {
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      NODE_COMPILE_CACHE: join(repository, 'node_modules', '.compile-cache'),
      ...variables,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the platform ended')));
  ended.catch(() => undefined);
  const said = once(child, 'message', { signal: AbortSignal.timeout(startMsMax) });
  const [ready] = (await Promise.race([said, ended])) as [Ready];
  return { child, ready };
};

const end = async (child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
};

const scan = async ({ endpoints, credentials }: Ready): Promise<readonly Item[]> => {
  const endpoint = endpoints['AWS_ENDPOINT_URL_DYNAMODB'] ?? '';
  const client = new DynamoDBClient({ region: 'us-east-1', endpoint, credentials });
  const found: Item[] = [];
  const pages = paginateScan({ client: DynamoDBDocumentClient.from(client) }, { TableName: 'sallyport' });
  for await (const { Items = [] } of pages) found.push(...Items);
  client.destroy();
  return found;
};
