/** The server behind the DynamoDB endpoint: our own dynoxide, or another DynamoDB with the operator's credentials. */
import { type IncomingHttpHeaders, type IncomingMessage, request as openRequest } from 'node:http';
import { request as openSecureRequest } from 'node:https';
import { type Credentials, region as ownRegion } from '../endpoint/account.ts';
import { sign } from '../endpoint/signature.ts';
import { openConnections } from './connections.ts';
import { startDynoxide } from './dynoxide.ts';

export type TableRequest = {
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
  ({ url, credentials = anyCredentials, sessionToken, region = ownRegion }: OtherDynamoDb): Upstream =>
  ({ method, target, headers, body }) => {
    const address = new URL(url);
    const { connection: _, expect: __, 'transfer-encoding': ___, ...otherHeaders } = headers;
    const sent = {
      ...otherHeaders,
      host: address.host,
      'content-length': String(body.length),
      ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
    };
    const signed = sign({ method, target, headers: sent, service: 'dynamodb', region }, credentials);
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
