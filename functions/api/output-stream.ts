/** Server-sent events of a sandbox as an answer: to their end, or for as long as a function may run. */
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { endInTime } from '#shared/adapters/lambda/timed-stream.ts';
import { header } from '#shared/contracts/credentials.ts';
import type { ApiEvent } from './api-route.ts';

/** `atEnd` runs before the answer ends, unless its reader has left. */
export const answerWithEvents = (
  source: ReadableStream<Uint8Array>,
  atEnd: () => Promise<void> = async () => undefined,
): StreamedResult => {
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
  return { statusCode: 200, headers, body: endInTime(source, { atEnd }) as StreamedResult['body'] };
};

/** By the media types of `Accept`, not those with a weight of 0. https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1 */
export const acceptsEvents = ({ headers }: ApiEvent): boolean =>
  (header(headers, 'accept') ?? '').split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/event-stream' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
