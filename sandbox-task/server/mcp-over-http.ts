/** The MCP endpoint behind Node's own request and response; a caller's broken connection kills a call without an id. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';

export type McpEndpoint = (request: Request) => Promise<Response>;

export const serveMcp = async (
  mcp: McpEndpoint,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const abort = new AbortController();
  response.once('close', () => abort.abort());
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const hasBody = request.method === 'POST';
  const answer = await mcp(
    new Request('http://sandbox/mcp', {
      method: request.method ?? 'GET',
      headers,
      signal: abort.signal,
      ...(hasBody ? { body: Readable.toWeb(request) as globalThis.ReadableStream, duplex: 'half' } : {}),
    }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body as ReadableStream<Uint8Array>), response);
};
