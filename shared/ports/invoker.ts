/** Wakes other functions, asynchronously: at least once, possibly late, possibly twice. */
import type { ConnectionId, SessionId } from '../domain/ids.ts';

export interface Invoker {
  runTurn(sessionId: SessionId, correlationId: string): Promise<void>;
  greet(connection: ConnectionId, correlationId: string): Promise<void>;
}
