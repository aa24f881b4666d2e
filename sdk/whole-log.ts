/** The log of a session as far as it is kept: 1,000 events. A page with long events has fewer of them. */
import type { ApiClient } from './api-client.ts';
import type { AnswerOf, Signalled } from './route.ts';
import { api } from './routes.ts';

export type LogEvents = AnswerOf<typeof api.readEvents>['events'];

/** More than 1,000 events have. */
const pagesMax = 50;

export const readWholeLog = async (
  client: Pick<ApiClient, 'request'>,
  { id, signal }: Signalled & { readonly id: string },
): Promise<{ readonly events: LogEvents; readonly isCut: boolean }> => {
  const events: LogEvents[number][] = [];
  let last = -1;
  let isCut = false;
  for (let page = 0; page < pagesMax; page += 1) {
    const query = { since_index: last };
    const answer = await client.request(api.readEvents, { params: { id }, query }, { signal });
    events.push(...answer.events);
    isCut ||= answer.droppedEvents > 0;
    last = answer.events.at(-1)?.index ?? last;
    if (!answer.hasMore || answer.events.length === 0) break;
  }
  return { events, isCut };
};
