/**
 * Hosts that a session reached, added up over several reads of its log: each read asks only for the events since the one before.
 *
 * The log keeps its newest events. Sums that lack older ones say so.
 */
import type { ApiClient } from '#sdk/api-client.ts';
import { SallyportError } from '#sdk/errors.ts';
import { api } from '#sdk/routes.ts';
import type { LogEvents } from '#sdk/whole-log.ts';
import { hostsReached, type ReachedHost } from '#shared/domain/egress-summary.ts';

export type Reached = {
  readonly sessionId: string;
  /** The latest first. */
  readonly hosts: readonly ReachedHost[];
  /** The last event that was read; -1 for none. */
  readonly last: number;
  /** Events before the first read were no longer kept. */
  readonly isCut: boolean;
};

type Asked = { readonly sessionId: string; readonly signal: AbortSignal };

export const readReached = async (
  client: Pick<ApiClient, 'request'>,
  { sessionId, signal }: Asked,
  known?: Reached,
): Promise<Reached> => {
  const before = known?.sessionId === sessionId ? known : nothingOf(sessionId);
  try {
    const { events, isCut } = await readSince(client, { sessionId, signal }, before.last);
    return {
      sessionId,
      hosts: hostsReached([...eventsOf(before.hosts), ...events]),
      last: events.at(-1)?.index ?? before.last,
      isCut: before.isCut || isCut,
    };
  } catch (error) {
    // Of a page that was away for long, as a laptop that slept: the sums begin anew.
    if (before.last === -1 || !(error instanceof SallyportError) || error.code !== 'events_purged')
      throw error;
    return readReached(client, { sessionId, signal });
  }
};

/** More than the events that are kept have: a page of long ones has fewer. */
const pagesMax = 50;

const readSince = async (
  client: Pick<ApiClient, 'request'>,
  { sessionId, signal }: Asked,
  since: number,
): Promise<{ readonly events: LogEvents; readonly isCut: boolean }> => {
  const events: LogEvents[number][] = [];
  let last = since;
  let isCut = false;
  for (let page = 0; page < pagesMax; page += 1) {
    const parts = { params: { id: sessionId }, query: { since_index: last } };
    const answer = await client.request(api.readEvents, parts, { signal });
    events.push(...answer.events);
    isCut ||= answer.droppedEvents > 0;
    last = answer.events.at(-1)?.index ?? last;
    if (!answer.hasMore || answer.events.length === 0) break;
  }
  return { events, isCut };
};

const nothingOf = (sessionId: string): Reached => ({ sessionId, hosts: [], last: -1, isCut: false });

/** A sum counts as one event, the oldest first. */
const eventsOf = (hosts: readonly ReachedHost[]) =>
  hosts.toReversed().map((host) => ({ type: 'egress', at: host.at, data: host }));
