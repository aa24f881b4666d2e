/**
 * `Sockets` over the @connections endpoint of an API Gateway WebSocket API.
 *
 * A 410 means the client left, or that its `$connect` has not returned yet; which of the two, only the
 * caller can know (https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-how-to-call-websocket-api-connections.html).
 */
import {
  type ApiGatewayManagementApiClient,
  DeleteConnectionCommand,
  PostToConnectionCommand,
} from '@aws-sdk/client-apigatewaymanagementapi';
import type { Sockets } from '#shared/ports/connections.ts';

/** A client that reads slowly is refused with 429 for a while, for which these tries wait. */
const throttledTriesMax = 4;

export const makeSockets = (client: ApiGatewayManagementApiClient): Sockets => ({
  post: async (connection, frame) => {
    const command = new PostToConnectionCommand({ ConnectionId: connection, Data: Buffer.from(frame) });
    for (let attempt = 1; ; attempt += 1) {
      const posted = await client.send(command).then(() => 'sent' as const, refusalOf);
      if (posted !== 'slow' || attempt === throttledTriesMax) return posted;
      await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** attempt));
    }
  },
  close: async (connection) => {
    try {
      await client.send(new DeleteConnectionCommand({ ConnectionId: connection }));
    } catch (error) {
      if (!isNamed(error, 'GoneException')) throw error;
    }
  },
});

const refusalOf = (error: unknown): 'gone' | 'slow' => {
  if (isNamed(error, 'GoneException')) return 'gone';
  if (isNamed(error, 'LimitExceededException')) return 'slow';
  throw error;
};

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;
