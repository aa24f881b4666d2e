/**
 * The DynamoDB endpoint of the functions: checks the caller's signature, then passes the request on to the server behind it.
 *
 * Behind it is dynoxide, which believes any signature, or another DynamoDB, for which requests are signed anew with the
 * operator's own credentials: a key of this start would mean nothing to it.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { AwsError } from '../endpoint/aws-error.ts';
import type { Keys } from '../endpoint/keys.ts';
import { type Listening, listenSigned } from '../endpoint/listen.ts';
import { readBody } from '../endpoint/request-body.ts';

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

export type Behind = (request: TableRequest) => Promise<TableAnswer>;

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html: 16 MB in one batch, and its JSON. */
const bodyBytesMax = 24 * 1024 * 1024;

export const openFront = (behind: Behind, keys: Keys): Promise<Listening> =>
  listenSigned(
    async (request, response) => {
      const { method = 'POST', url: target = '/', headers } = request;
      const body = await readBody(request, bodyBytesMax);
      if (body === undefined)
        throw new AwsError(413, 'RequestEntityTooLarge', { message: 'the request is too large' });
      write(response, await behind({ method, target, headers, body }));
    },
    { keys },
  );

/** Headers about the server's connection are not passed on. */
const ofTheConnection = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'date'];

const write = (response: ServerResponse, { status, headers, body }: TableAnswer): void => {
  const kept = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || ofTheConnection.includes(name) || name.startsWith('access-control-')
      ? []
      : [name, value as string],
  );
  response.writeHead(status, ['content-length', String(body.length), ...kept]);
  response.end(body);
};
