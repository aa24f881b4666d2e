/**
 * The connections of one WebSocket API: made when `$connect` begins, open only once it has returned.
 *
 * Whoever posts to a connection that is not open is told that it is gone, which is what AWS says before
 * `$connect` has returned as well as after the end (A1 in docs/spec/aws.md).
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';

type Identity = { readonly sourceIp: string; readonly userAgent: string | null };

/** What the authorizer said; every later event of the connection carries it. */
export type Authorization = Readonly<Record<string, string>>;

export type Connection = {
  readonly id: string;
  readonly connectedAt: number;
  readonly identity: Identity;
  readonly domainName: string;
};

export type OpenConnection = Connection & {
  readonly socket: WebSocket;
  readonly authorization: Authorization | undefined;
  lastActiveAt: number;
  /** Starts the idle time again. */
  readonly touch: () => void;
};

export type ConnectionTable = {
  readonly add: (connection: OpenConnection) => void;
  readonly find: (id: string) => OpenConnection | undefined;
  readonly remove: (id: string) => void;
  readonly all: () => readonly OpenConnection[];
};

export const openConnectionTable = (): ConnectionTable => {
  const connections = new Map<string, OpenConnection>();
  return {
    add: (connection) => void connections.set(connection.id, connection),
    find: (id) => connections.get(id),
    remove: (id) => void connections.delete(id),
    all: () => [...connections.values()],
  };
};

/** Like those of AWS it ends with `=`, so whoever forgets to encode it into a URL finds out. */
export const makeConnectionId = (): string => `${randomBytes(11).toString('base64url')}=`;

export const makeRequestId = (): string => randomUUID();
