/** One request to an endpoint of the embedded cloud, signed by hand: for requests that no client of an SDK makes. */
import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Credentials } from './keys.ts';
import { sha256, sign } from './signature.ts';

export type ByHand = {
  readonly url: string;
  readonly service: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export const askSigned = async (
  { url, service, method = 'POST', headers = {}, body = '' }: ByHand,
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
  const asking = request(url, { method, headers: signed as OutgoingHttpHeaders });
  asking.end(body);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await text(answer) };
};
