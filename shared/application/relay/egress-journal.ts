/**
 * The record of a sandbox's connections to hosts outside: events `egress` in the session's log, joined by host (EG6).
 *
 * Connections that end within an interval are one event for each host and verdict. Hosts beyond a bound are one event for all
 * of them, and the interval grows after many events, so that a program cannot fill the log.
 */
import type { LogEntry } from '../../domain/event-log.ts';
import type { SessionId } from '../../domain/ids.ts';
import { egressEventsMax, egressFlushMs, egressFlushMsMax } from '../../domain/relay/limits.ts';
import type { PublishDeps } from '../deps.ts';
import { appendAndPublish } from '../events/publisher.ts';
import type { EgressRecord } from './egress-stream.ts';

export type EgressJournal = {
  readonly add: (record: EgressRecord) => void;
  /** Writes what is left. */
  readonly close: () => Promise<void>;
};

type Joined = EgressRecord & { readonly connections: number };

const eventsBeforeSlow = 100;

export const openEgressJournal = (ports: PublishDeps, session: SessionId): EgressJournal => {
  let pending = new Map<string, Joined>();
  let written = 0;
  let isWaiting = false;

  const flush = async (): Promise<void> => {
    const entries = entriesOf([...pending.values()]);
    pending = new Map();
    written += entries.length;
    try {
      await appendAndPublish(ports, session, entries);
    } catch (error) {
      ports.telemetry.warn('connections of a sandbox were not recorded', { sessionId: session, error });
    }
  };
  const flushLater = async (): Promise<void> => {
    await ports.world.sleep(written > eventsBeforeSlow ? egressFlushMsMax : egressFlushMs);
    isWaiting = false;
    await flush();
  };
  return {
    add(record) {
      const key = `${record.allowed} ${record.isOverLimit} ${record.host} ${record.port}`;
      pending.set(key, joined(pending.get(key), record));
      if (isWaiting) return;
      isWaiting = true;
      void flushLater();
    },
    close: flush,
  };
};

const joined = (before: Joined | undefined, record: EgressRecord): Joined => ({
  ...record,
  bytesIn: record.bytesIn + (before?.bytesIn ?? 0),
  bytesOut: record.bytesOut + (before?.bytesOut ?? 0),
  connections: 1 + (before?.connections ?? 0),
});

const entriesOf = (records: readonly Joined[]): readonly LogEntry[] => {
  const shown = records.slice(0, egressEventsMax).map((data): LogEntry => ({ type: 'egress', data }));
  const rest = records.slice(egressEventsMax);
  if (rest.length === 0) return shown;
  const sum = (count: (record: Joined) => number): number =>
    rest.reduce((total, one) => total + count(one), 0);
  const data = {
    host: '*',
    port: 0,
    allowed: rest.some(({ allowed }) => allowed),
    bytesIn: sum(({ bytesIn }) => bytesIn),
    bytesOut: sum(({ bytesOut }) => bytesOut),
    connections: sum(({ connections }) => connections),
  };
  return [...shown, { type: 'egress', data }];
};
