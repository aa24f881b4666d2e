/** The server behind the front: our own dynoxide, or another DynamoDB under the operator's credentials. */
import { type IncomingMessage, request as openRequest } from 'node:http';
import { request as openSecureRequest } from 'node:https';
import type { Credentials } from '../endpoint/keys.ts';
import { sign } from '../endpoint/signature.ts';
import { region as ownRegion } from '../lambda/function-definition.ts';
import { openConnections } from './connections.ts';
import { startDynoxide } from './dynoxide.ts';
import type { Behind, TableAnswer } from './front.ts';

export type OtherDynamoDb = {
  readonly url: string;
  /** As its own clients sign; DynamoDB Local takes any. */
  readonly credentials?: Credentials | undefined;
  /** Of a session, as temporary credentials have it. */
  readonly sessionToken?: string | undefined;
  readonly region?: string | undefined;
};

const anyCredentials: Credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
/** It looks at no other header. */
const told = ['content-type', 'x-amz-target', 'authorization', 'x-amz-date'];

export const openDynoxide = async (folder: string, stopping: AsyncDisposableStack): Promise<Behind> => {
  const dynoxide = await startDynoxide(folder);
  stopping.defer(dynoxide.stop);
  const connections = openConnections(dynoxide.connect);
  stopping.defer(connections.close);
  return ({ method, headers, body }) => {
    const lines = told.flatMap((name) =>
      headers[name] === undefined ? [] : [`${name}: ${String(headers[name])}`],
    );
    const head = `${method} / HTTP/1.1\r\nhost: dynoxide\r\ncontent-length: ${body.length}\r\n${lines.join('\r\n')}\r\n\r\n`;
    return connections.ask(head, body);
  };
};

export const openOther =
  ({ url, credentials = anyCredentials, sessionToken, region = ownRegion }: OtherDynamoDb): Behind =>
  ({ method, target, headers, body }) => {
    const place = new URL(url);
    const { connection: _, expect: __, 'transfer-encoding': ___, ...kept } = headers;
    const sent = {
      ...kept,
      host: place.host,
      'content-length': String(body.length),
      ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
    };
    const signed = sign({ method, target, headers: sent, service: 'dynamodb', region }, credentials);
    const open = place.protocol === 'https:' ? openSecureRequest : openRequest;
    return new Promise<TableAnswer>((resolve, reject) => {
      const onward = open(
        new URL(target, place),
        { method, headers: signed as Record<string, string | string[] | undefined> },
        (answer) => collect(answer).then(resolve, reject),
      );
      onward.once('error', reject);
      onward.end(body);
    });
  };

const collect = async (answer: IncomingMessage): Promise<TableAnswer> => {
  const body = Buffer.concat(await answer.toArray());
  return { status: answer.statusCode ?? 502, headers: answer.headers, body };
};
