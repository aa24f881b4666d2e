/**
 * The hosts that a session reached, or tried to: its events `egress`, joined by host, port and verdict, the latest first.
 *
 * Events are read as they came over a wire: one without the fields of such an event counts as none.
 */

export type ReachedHost = {
  readonly host: string;
  readonly port: number;
  readonly allowed: boolean;
  readonly isOverLimit: boolean;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly connections: number;
  /** Of the last event. */
  readonly at: string;
};

type Event = { readonly type: string; readonly at: string; readonly data: Readonly<Record<string, unknown>> };

export const hostsReached = (events: readonly Event[]): readonly ReachedHost[] => {
  const hosts = new Map<string, ReachedHost>();
  for (const event of events) {
    const one = reachedBy(event);
    if (one === undefined) continue;
    const key = keyOfHost(one);
    const before = hosts.get(key);
    hosts.delete(key);
    hosts.set(key, before === undefined ? one : joined(before, one));
  }
  return [...hosts.values()].reverse();
};

export const keyOfHost = ({ host, port, allowed, isOverLimit }: ReachedHost): string =>
  `${host}:${port} ${allowed} ${isOverLimit}`;

/** Port 0 is the rest of many hosts at once. */
export const endpointOf = ({ host, port }: Pick<ReachedHost, 'host' | 'port'>): string =>
  port === 0 ? 'other hosts' : `${host.includes(':') ? `[${host}]` : host}:${port}`;

export const verdictOf = ({ allowed, isOverLimit }: ReachedHost): string => {
  if (isOverLimit) return 'over the limit';
  return allowed ? 'allowed' : 'refused';
};

const reachedBy = ({ type, at, data }: Event): ReachedHost | undefined => {
  const { host, port, allowed, bytesIn, bytesOut, connections = 1, isOverLimit = false } = data;
  if (type !== 'egress' || typeof host !== 'string' || typeof port !== 'number') return undefined;
  return {
    host,
    port,
    allowed: allowed === true,
    isOverLimit: isOverLimit === true,
    bytesIn: Number(bytesIn ?? 0),
    bytesOut: Number(bytesOut ?? 0),
    connections: Number(connections),
    at,
  };
};

const joined = (before: ReachedHost, next: ReachedHost): ReachedHost => ({
  ...next,
  bytesIn: before.bytesIn + next.bytesIn,
  bytesOut: before.bytesOut + next.bytesOut,
  connections: before.connections + next.connections,
});
