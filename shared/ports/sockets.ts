/** The server's side of open WebSockets: send a frame, close one. */
import type { ConnectionId } from '../domain/ids.ts';

export interface Sockets {
  /** `gone`: the client left, or its `$connect` has not returned yet: the gateway answers 410 to both. */
  post(connection: ConnectionId, frame: string): Promise<'sent' | 'gone'>;
  close(connection: ConnectionId): Promise<void>;
}
