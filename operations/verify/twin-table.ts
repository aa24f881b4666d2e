/**
 * DynamoDB that asks two engines and says where they differ: the embedded one, whose answer the caller gets, and another.
 *
 * Requests run one after the other, so that both engines meet them in the same order. Each access key has tables of its own, as in
 * DynamoDB Local.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDynoxide, openOther, type TableAnswer, type Upstream } from '../../local/dynamodb/start.ts';
import { type Difference, differencesOf } from './table-differences.ts';

export type TwinTable = AsyncDisposable & {
  readonly url: string;
  readonly asked: () => number;
  readonly differences: () => readonly Difference[];
};

/** What a test does to items; what describes a table differs in its nature. */
const compared = /[.](?:(?:Batch)?GetItem|(?:Put|Update|Delete|BatchWrite|Transact\w+)Items?|Query|Scan)$/;

export const openTwinTable = async (otherUrl: string): Promise<TwinTable> => {
  const opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-twin-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const engines = new Map<string, Promise<Upstream>>();
  const turns = new Map<string, Promise<unknown>>();
  const differences: Difference[] = [];
  let asked = 0;

  const both = async (key: string, request: Parameters<Upstream>[0]): Promise<TableAnswer> => {
    const engine = await (engines.get(key) ?? open(key));
    const other = openOther({ url: otherUrl, credentials: { accessKeyId: key, secretAccessKey: 'local' } });
    const answer = await engine(request);
    const otherAnswer = await other(request);
    const operation = String(request.headers['x-amz-target']);
    if (!compared.test(operation)) return answer;
    asked += 1;
    differences.push(...differencesOf({ operation, request: request.body, answer, other: otherAnswer }));
    return answer;
  };
  const open = (key: string): Promise<Upstream> => {
    const engine = openDynoxide(join(folder, key), opened);
    engines.set(key, engine);
    return engine;
  };

  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { method = 'POST', url: target = '/', headers } = request;
    const key = accessKeyOf(headers);
    const answered = (turns.get(key) ?? Promise.resolve()).then(() =>
      both(key, { method, target, headers, body }),
    );
    turns.set(
      key,
      answered.catch(() => undefined),
    );
    const { status, body: text } = await answered;
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    differences: () => differences,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
};

const accessKeyOf = ({ authorization = '' }: IncomingHttpHeaders): string =>
  /Credential=(\w+)/.exec(authorization)?.[1] ?? 'unsigned';
