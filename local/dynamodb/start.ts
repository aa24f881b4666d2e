/**
 * DynamoDB on one machine: the endpoint of the functions, in front of dynoxide or another DynamoDB.
 *
 * It checks the signature of each caller, since dynoxide accepts any, and forwards the request. It creates the one
 * table if it is missing and deletes expired items.
 */
import type { ServerResponse } from 'node:http';
import { type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Credentials, type Keys, makeKeys, region } from '../endpoint/account.ts';
import { AwsError } from '../endpoint/aws-error.ts';
import { readBody } from '../endpoint/http-body.ts';
import { type Listening, listenSigned } from '../endpoint/listen.ts';
import { ensureTable, startSweep } from './table.ts';
import { type OtherDynamoDb, openDynoxide, openOther, type TableAnswer, type Upstream } from './upstream.ts';

export type DynamoDbOptions = {
  readonly folder: string;
  readonly table: CreateTableCommandInput;
  /** The attribute with the time of expiry, in epoch seconds. */
  readonly expiryAttribute: string;
  /** Another DynamoDB to use instead of starting one. */
  readonly other?: OtherDynamoDb | undefined;
  readonly sweepIntervalMs?: number;
  readonly keys?: Keys;
};

export type DynamoDbEndpoint = {
  readonly url: string;
  readonly credentials: Credentials;
  readonly stop: () => Promise<void>;
};

const sweepIntervalMsDefault = 60_000;

export const start = async (options: DynamoDbOptions): Promise<DynamoDbEndpoint> => {
  const { other, keys = makeKeys() } = options;
  await using starting = new AsyncDisposableStack();
  const upstream = other === undefined ? await openDynoxide(options.folder, starting) : openOther(other);
  const endpoint = await openEndpoint(upstream, keys);
  starting.defer(endpoint.stop);
  const credentials = keys.issue('local');
  const client = new DynamoDBClient({ endpoint: endpoint.url, region, credentials });
  starting.defer(() => client.destroy());
  await ensureTable(client, options.table, options.expiryAttribute);
  const sweep = startSweep(client, {
    table: options.table,
    attribute: options.expiryAttribute,
    intervalMs: options.sweepIntervalMs ?? sweepIntervalMsDefault,
  });
  starting.defer(sweep.stop);
  const running = starting.move();
  return { url: endpoint.url, credentials, stop: () => running.disposeAsync() };
};

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html: 16 MB in one batch, and room for its JSON. */
const bodyBytesMax = 24 * 1024 * 1024;

const openEndpoint = (upstream: Upstream, keys: Keys): Promise<Listening> =>
  listenSigned(
    async (request, response) => {
      const { method = 'POST', url: target = '/', headers } = request;
      const body = await readBody(request, bodyBytesMax);
      if (body === undefined)
        throw new AwsError(413, 'RequestEntityTooLarge', { message: 'the request is too large' });
      write(response, await upstream({ method, target, headers, body }));
    },
    { keys },
  );

/** Headers of one connection, which are not forwarded. */
const connectionHeaders = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'date'];

const write = (response: ServerResponse, { status, headers, body }: TableAnswer): void => {
  const forwarded = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || connectionHeaders.includes(name) || name.startsWith('access-control-')
      ? []
      : [name, value as string],
  );
  response.writeHead(status, ['content-length', String(body.length), ...forwarded]);
  response.end(body);
};
