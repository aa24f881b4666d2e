/** The client of the open session's socket: a WebSocket, or, once none opened in this tab, one that is made of requests. */
import type { ApiClient } from '#sdk/api-client.ts';
import { connectionLost } from '#sdk/errors.ts';
import { fetchEvents } from '#sdk/event-feed.ts';
import { api } from '#sdk/routes.ts';
import { clientOf } from '../api/request.ts';

/** The code that stands in for a WebSocket: it is seldom needed, and loaded then. */
let polled: typeof import('./polled-socket.ts').polledSocket | undefined;

export const isByRequests = (): boolean => polled !== undefined;

export const socketClient = (): ApiClient =>
  clientOf(undefined, undefined, polled?.({ client: clientOf(), api, fetchEvents, connectionLost }));

/** False where its code is not loaded, or not needed by then: the WebSocket is tried again. */
export const useRequests = async (isNeeded: () => boolean): Promise<boolean> => {
  const { polledSocket } = (await import('./polled-socket.ts').catch(() => undefined)) ?? {};
  if (polledSocket === undefined || isByRequests() || !isNeeded()) return false;
  polled = polledSocket;
  return true;
};

export const useWebSocket = (): void => {
  polled = undefined;
};
