/** Open sockets, with their principals and sessions, and the single-use tickets with which browsers open them. */
import type { ConnectionId, SessionId } from '../domain/ids.ts';
import type { Principal } from '../domain/principal.ts';
import type { Subscriber } from '../domain/subscriber.ts';

export type Connection = {
  readonly id: ConnectionId;
  /** Absent: it belongs to no session, and receives the number of calls that wait for its person. */
  readonly sessionId?: SessionId;
  readonly principal: Principal;
  readonly connectedAt: number;
  /** Replay the log after this number; absent: no replay. */
  readonly since?: number;
  /** Of one with a session: its greeter must have greeted it by then, in epoch milliseconds. */
  readonly greetBy?: number;
};

/** A socket that receives the number of waiting calls. */
export type Approver = Pick<Connection, 'id' | 'principal'>;

export type PreviewGrant = {
  readonly principal: Principal;
  readonly sessionId: SessionId;
  readonly port: number;
  readonly expiresAt: number;
};

export interface ConnectionStore {
  /** Refuses, as `unauthenticated`, the connection of a browser whose sign-in has ended, or of a token that was revoked. */
  put(connection: Connection): Promise<void>;
  /** The connections that a token, or a browser's sign-in, has opened, by the hash of its record. */
  openedBy(credential: string): Promise<readonly ConnectionId[]>;
  get(id: ConnectionId): Promise<Connection | undefined>;
  /** The removed connection; undefined when there was none, or it was opened at `openedBefore` or later, and stays. */
  remove(id: ConnectionId, options?: { readonly openedBefore: number }): Promise<Connection | undefined>;
  /** Those that were not greeted yet are among them. */
  subscribers(sessionId: SessionId): Promise<readonly Subscriber[]>;
  subscriber(sessionId: SessionId, id: ConnectionId): Promise<Subscriber | undefined>;
  /** From now on, or from `joinBy` on, publishers may post to it; false when it has been removed. */
  greeted(sessionId: SessionId, id: ConnectionId, options?: { readonly joinBy: number }): Promise<boolean>;
  /** The sockets without a session, with what each may decide. */
  approvers(): Promise<readonly Approver[]>;
  /** The time since which there have always been such sockets; 0 when there never were. */
  approversSince(): Promise<number>;
  putTicket(
    ticketHash: string,
    ticket: { readonly principal: Principal; readonly expiresAt: number },
  ): Promise<void>;
  /** Stores a grant that opens one preview port for a while. */
  putPreview(grantHash: string, grant: PreviewGrant): Promise<void>;
  preview(grantHash: string): Promise<PreviewGrant | undefined>;
  /** The principal, once; undefined when the ticket is used, expired or unknown. */
  redeemTicket(ticketHash: string, now: number): Promise<Principal | undefined>;
}

/**
 * `gone`: the client left, or its `$connect` has not returned yet: the gateway answers 410 to both. `slow`: the client reads more
 * slowly than frames come; it did not get this one, and may get a later one.
 */
export type Posted = 'sent' | 'gone' | 'slow';

/** The server's side of open WebSockets: send a frame, close one. */
export interface Sockets {
  post(connection: ConnectionId, frame: string): Promise<Posted>;
  close(connection: ConnectionId): Promise<void>;
}
