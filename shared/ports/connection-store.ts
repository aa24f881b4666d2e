/** Open sockets: whose they are, which session they watch; and the single-use tickets browsers open them with. */
import type { ConnectionId, SessionId } from '../domain/ids.ts';
import type { Principal } from '../domain/principal.ts';

export type Connection = {
  readonly id: ConnectionId;
  /** Absent: it belongs to no session, and is told how many calls wait for its person. */
  readonly sessionId?: SessionId;
  readonly principal: Principal;
  readonly connectedAt: number;
  /** Replay the log after this number; absent: no replay. */
  readonly since?: number;
};

/** A socket that is told how many calls wait. */
export type Approver = Pick<Connection, 'id' | 'principal'>;

export type PreviewGrant = {
  readonly principal: Principal;
  readonly sessionId: SessionId;
  readonly port: number;
  readonly expiresAt: number;
};

export interface ConnectionStore {
  put(connection: Connection): Promise<void>;
  get(id: ConnectionId): Promise<Connection | undefined>;
  /** As it was; undefined when it is gone. */
  remove(id: ConnectionId): Promise<Connection | undefined>;
  watchers(sessionId: SessionId): Promise<readonly ConnectionId[]>;
  /** Those that belong to no session, with what each may decide. */
  approvers(): Promise<readonly Approver[]>;
  /** Since when there have been such sockets, one after the other; 0 when there never were. */
  approversSince(): Promise<number>;
  putTicket(
    ticketHash: string,
    ticket: { readonly principal: Principal; readonly expiresAt: number },
  ): Promise<void>;
  /** What opens one preview port, for a while. */
  putPreview(grantHash: string, grant: PreviewGrant): Promise<void>;
  preview(grantHash: string): Promise<PreviewGrant | undefined>;
  /** The principal, once; undefined when used, expired or unknown. */
  redeemTicket(ticketHash: string, now: number): Promise<Principal | undefined>;
}
