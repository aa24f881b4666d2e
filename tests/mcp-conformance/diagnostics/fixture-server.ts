/** The suite's own server behind our handler: the code of `/mcp` from the event of the gateway to the answer's stream. */

import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { systemWorld } from '#shared/adapters/system-world.ts';
import type { TokenStore } from '#shared/ports/access.ts';
import type { ConnectionStore } from '#shared/ports/connections.ts';
import { answer, type McpAuthPorts } from '../../../functions/mcp/authenticate-request.ts';
import type { McpPorts, McpSettings } from '../../../functions/mcp/define-tool.ts';
import { listen } from '../../../local/endpoint/listen.ts';
import { fake } from '../../fake.ts';
import { everything } from './everything.ts';

const token = 'fixture';
const telemetry = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  count: () => undefined,
  duration: () => undefined,
};
const endpoint: McpAuthPorts = {
  tokens: fake<TokenStore>({ get: async () => undefined }),
  connections: fake<ConnectionStore>({
    putTicket: async () => undefined,
    redeemTicket: async () => undefined,
  }),
  rateLimiter: { take: async () => true },
  world: systemWorld,
  telemetry,
  adminTokenHash: systemWorld.sha256(token),
};
const house = {
  makeServer: everything,
  settings: {} as McpSettings,
  open: async () => ({ world: systemWorld, telemetry }) as unknown as McpPorts,
  resource: { publicUrl: undefined, issuer: undefined },
  deadlineAt: Number.POSITIVE_INFINITY,
};

export const openFixture = async () => {
  const { url, stop } = await listen(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const event = {
      httpMethod: request.method,
      headers: { ...request.headers, authorization: `Bearer ${token}` },
      body: Buffer.concat(chunks).toString('base64'),
      isBase64Encoded: true,
      requestContext: { requestId: systemWorld.uuid() },
    } as unknown as APIGatewayProxyEvent;
    const { statusCode, headers, body } = await answer(endpoint, event, house);
    response.writeHead(statusCode, headers);
    response.flushHeaders();
    if (typeof body === 'string') response.end(body);
    else Readable.fromWeb(body as NodeReadableStream).pipe(response);
  });
  return { url: `${url}/mcp`, close: stop };
};
