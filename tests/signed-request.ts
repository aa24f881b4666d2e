/** One signed request to an endpoint of the embedded cloud, for tests of requests that no SDK client makes. */
import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Credentials } from '../local/endpoint/account.ts';
import { sha256, sign } from '../local/endpoint/signature.ts';

type RawRequest = {
  readonly url: string;
  readonly service: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export const sendSigned = async (
  { url, service, method = 'POST', headers = {}, body = '' }: RawRequest,
  credentials: Credentials,
): Promise<{ readonly status: number; readonly text: string }> => {
  const { host, pathname, search } = new URL(url);
  const signed = sign(
    {
      ...{ method, target: `${pathname}${search}`, service, region: 'us-east-1' },
      headers: { host, 'x-amz-content-sha256': sha256(body), ...headers },
    },
    credentials,
  );
  const sent = request(url, { method, headers: signed as OutgoingHttpHeaders });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await text(answer) };
};
