/**
 * The response for clients that take no event stream: the stream is read to its end, and its answers are returned
 * as JSON.
 *
 * Notifications in between are dropped; a response that is no stream is passed on as it is.
 */
const isStream = ({ headers }: Request | Response, name: string): boolean =>
  /\btext\/event-stream\b/i.test(headers.get(name) ?? '');

/** A simple client names no form, or any: it reads JSON. */
export const acceptsStream = (request: Request): boolean => isStream(request, 'accept');

export const toJsonResponse = async (response: Response): Promise<Response> => {
  if (!isStream(response, 'content-type')) return response;
  const answers = (await response.text())
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice('data: '.length))] : []))
    .filter((message: object) => 'result' in message || 'error' in message);
  return Response.json(answers.length === 1 ? answers[0] : answers, {
    headers: { 'cache-control': 'no-store' },
  });
};
