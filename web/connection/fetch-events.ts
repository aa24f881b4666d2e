/** The events after a number by REST, and the oldest number that is still kept, as the feed asks for them. */
import { RequestError, request } from '../api/request.ts';
import { api } from '../api/routes.ts';
import type { EventPage } from './event-feed.ts';
import type { LoggedFrame } from './event-order.ts';

const eventsPerPageMax = 500;

export const fetchEvents = async (sessionId: string, since: number): Promise<EventPage> => {
  try {
    const { events } = await request(api.readEvents, {
      params: { id: sessionId },
      query: { since_index: since, max_events: eventsPerPageMax },
    });
    const frames = events.map(({ index, ...event }) => ({ ...event, seq: index }) as unknown as LoggedFrame);
    return { isAnswered: true, frames, oldestSeq: frames[0]?.seq ?? null };
  } catch (error) {
    const oldestSeq = (error instanceof RequestError ? error.oldestIndex : undefined) ?? null;
    return { isAnswered: oldestSeq !== null, frames: [], oldestSeq };
  }
};
