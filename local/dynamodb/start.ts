/**
 * DynamoDB on one machine: the endpoint of the functions, in front of dynoxide or another DynamoDB.
 *
 * It checks the signature of each caller, since dynoxide accepts any, and forwards the request; to another DynamoDB with
 * the operator's credentials. It creates the one table if it is missing, and deletes the expired items of dynoxide.
 */
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
} from 'node:http';
import { request as openSecureRequest } from 'node:https';
import { type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Credentials, type Keys, region } from '../endpoint/account.ts';
import { AwsError, readBody } from '../endpoint/http-messages.ts';
import { type Endpoint, listenSigned } from '../endpoint/listen.ts';
import { sign } from '../endpoint/signature.ts';
import { openConnections } from './connections.ts';
import { startDynoxide } from './dynoxide.ts';
import { ensureTable, type SweepTimes, startSweep } from './table.ts';

export type DynamoDbOptions = {
  readonly folder: string;
  readonly table: CreateTableCommandInput;
  /** The attribute with the time of expiry, in epoch seconds. */
  readonly expiryAttribute: string;
  /** Another DynamoDB to use instead of starting one. */
  readonly other?: OtherDynamoDb | undefined;
  readonly sweepMs?: SweepTimes;
  readonly keys?: Keys;
};

/** The first is soon, since a program that is started for an hour each day would sweep nothing otherwise. */
const sweepMsDefault: SweepTimes = { first: 60_000, every: 3_600_000 };

export const start = async (options: DynamoDbOptions): Promise<Endpoint> => {
  const { other, keys } = options;
  await using starting = new AsyncDisposableStack();
  const upstream = other === undefined ? await openDynoxide(options.folder, starting) : openOther(other);
  const { url, credentials, stop } = await openEndpoint(upstream, keys);
  starting.defer(stop);
  const client = new DynamoDBClient({ endpoint: url, region, credentials });
  starting.defer(() => client.destroy());
  await ensureTable(client, options.table, options.expiryAttribute);
  // Another DynamoDB deletes expired items itself, and a scan of it may be billed.
  if (other === undefined) {
    const { table, expiryAttribute: attribute, sweepMs: times = sweepMsDefault } = options;
    starting.defer(startSweep(client, { table, attribute, times }).stop);
  }
  const running = starting.move();
  return { url, credentials, stop: () => running.disposeAsync() };
};

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html: 16 MB in one batch, and room for its JSON. */
const bodyBytesMax = 24 * 1024 * 1024;

/** DynamoDB refuses them, dynoxide does not. The text is in no string of a JSON text, whose quotes are escaped. */
const neverEmpty = ['ExpressionAttributeNames', 'ExpressionAttributeValues'] as const;

const openEndpoint = (upstream: Upstream, keys: Keys | undefined): Promise<Endpoint> =>
  listenSigned(
    async (request, response) => {
      const { method = 'POST', url: target = '/', headers } = request;
      const body = await readBody(request, bodyBytesMax);
      if (body === undefined) throw new AwsError(413, 'RequestEntityTooLarge', 'the request is too large');
      for (const field of neverEmpty)
        if (body.includes(`"${field}":{}`))
          throw new AwsError(400, 'ValidationException', `${field} must not be empty`);
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

type TableRequest = {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

export type TableAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
};

export type Upstream = (request: TableRequest) => Promise<TableAnswer>;

export type OtherDynamoDb = {
  readonly url: string;
  /** Without them any are used, as DynamoDB Local accepts. */
  readonly credentials?: Credentials | undefined;
  /** Comes with temporary credentials. */
  readonly sessionToken?: string | undefined;
  readonly region?: string | undefined;
};

const anyCredentials: Credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
/** dynoxide reads no other header. */
const forwardedHeaders = ['content-type', 'x-amz-target', 'authorization', 'x-amz-date'];

export const openDynoxide = async (folder: string, stopping: AsyncDisposableStack): Promise<Upstream> => {
  const dynoxide = await startDynoxide(folder);
  stopping.defer(dynoxide.stop);
  const connections = openConnections(dynoxide.connect);
  stopping.defer(connections.close);
  return ({ method, headers, body }) => {
    const lines = forwardedHeaders.flatMap((name) =>
      headers[name] === undefined ? [] : [`${name}: ${String(headers[name])}`],
    );
    const head = `${method} / HTTP/1.1\r\nhost: dynoxide\r\ncontent-length: ${body.length}\r\n${lines.join('\r\n')}\r\n\r\n`;
    return connections.send(head, body);
  };
};

export const openOther =
  ({ url, credentials = anyCredentials, sessionToken, region: named = region }: OtherDynamoDb): Upstream =>
  ({ method, target, headers, body }) => {
    const address = new URL(url);
    const { connection: _, expect: __, 'transfer-encoding': ___, ...otherHeaders } = headers;
    const sent = {
      ...otherHeaders,
      host: address.host,
      'content-length': String(body.length),
      ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
    };
    const signed = sign({ method, target, headers: sent, service: 'dynamodb', region: named }, credentials);
    const open = address.protocol === 'https:' ? openSecureRequest : openRequest;
    return new Promise<TableAnswer>((resolve, reject) => {
      const forwarded = open(
        new URL(target, address),
        { method, headers: signed as Record<string, string | string[] | undefined> },
        (answer) => collect(answer).then(resolve, reject),
      );
      forwarded.once('error', reject);
      forwarded.end(body);
    });
  };

const collect = async (answer: IncomingMessage): Promise<TableAnswer> => {
  const body = Buffer.concat(await answer.toArray());
  return { status: answer.statusCode ?? 502, headers: answer.headers, body };
};
