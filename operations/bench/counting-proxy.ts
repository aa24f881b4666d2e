/**
 * A proxy in front of an embedded DynamoDB with an empty platform table: it forwards each request with a new signature,
 * counts them by operation, and has the engine say what each consumed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, type OutgoingHttpHeaders, request, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start } from '../../local/dynamodb/start.ts';
import { platformTable } from '../../local/dynamodb/table.ts';
import { listen } from '../../local/endpoint/listen.ts';
import { sha256, sign } from '../../local/endpoint/signature.ts';

export type CountingProxy = AsyncDisposable & {
  readonly url: string;
  readonly reset: () => void;
  readonly counts: () => {
    readonly counts: Readonly<Record<string, number>>;
    readonly readUnits: number;
    readonly writeUnits: number;
  };
};

export const openCountingProxy = async (): Promise<CountingProxy> => {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const table = platformTable('sallyport');
  const { url: target, credentials, stop } = await start({ folder, table, expiryAttribute: 'ttl' });
  opened.defer(stop);
  let counts: Record<string, number> = {};
  let readUnits = 0;
  let writeUnits = 0;
  const pass = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const operation =
      String(incoming.headers['x-amz-target'] ?? '')
        .split('.')
        .at(-1) ?? '';
    counts[operation] = (counts[operation] ?? 0) + 1;
    const { method = 'POST', url = '/' } = incoming;
    const body = Buffer.from(
      JSON.stringify({ ...(await json(incoming)), ReturnConsumedCapacity: 'TOTAL' } satisfies object),
    );
    const sent = {
      ...incoming.headers,
      host: new URL(target).host,
      'content-length': String(body.length),
      'x-amz-content-sha256': sha256(body),
    };
    const headers = sign(
      { method, target: url, headers: sent, service: 'dynamodb', region: 'us-east-1' },
      credentials,
    ) as OutgoingHttpHeaders;
    const outgoing = request(`${target}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      void addUnits(operation, answer);
    });
    outgoing.on('error', () => response.destroy());
    outgoing.end(body);
  };
  const addUnits = async (operation: string, answer: IncomingMessage): Promise<void> => {
    const units = unitsOf(await json(answer));
    if (isWrite(operation)) writeUnits += units;
    else readUnits += units;
  };
  const { url, stop: stopProxy } = await listen(pass);
  opened.defer(stopProxy);
  const closing = opened.move();
  return {
    url,
    reset: () => {
      counts = {};
      readUnits = 0;
      writeUnits = 0;
    },
    counts: () => ({ counts: { ...counts }, readUnits, writeUnits }),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
};

const isWrite = (operation: string): boolean =>
  /^(Put|Update|Delete|TransactWrite|BatchWrite)/.test(operation);

const unitsOf = ({ ConsumedCapacity: consumed = [] }: Awaited<ReturnType<typeof json>>): number =>
  [consumed].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);

type Consumed = { readonly CapacityUnits: number };

const json = async (
  stream: IncomingMessage,
): Promise<{ readonly ConsumedCapacity?: Consumed | readonly Consumed[] }> =>
  JSON.parse(Buffer.concat((await stream.toArray()) as Buffer[]).toString());
