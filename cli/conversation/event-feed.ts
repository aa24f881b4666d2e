/** A session's log as it reaches this program: each event once and in order, with what is missing fetched. */
import { toFailure } from '../failure.ts';
import { type HttpClient, segment } from '../http-client.ts';
import {
  acceptFrames,
  type EventOrder,
  type Frame,
  type LoggedFrame,
  orderFrom,
  skipTo,
} from './event-order.ts';

export type EventFeed = {
  /** Undefined before the first greeting. */
  readonly lastSeq: () => number | undefined;
  /** The server has said up to where its log goes; the first time, nothing before that is wanted. */
  readonly greet: (lastSeq: number) => void;
  readonly take: (frames: readonly LoggedFrame[]) => void;
  readonly stop: () => void;
};

type FeedOptions = {
  readonly client: HttpClient;
  readonly sessionId: string;
  readonly onFrame: (frame: Frame) => void;
};

/** Frames overtake each other by milliseconds; what is later than this was lost. */
const gapPatienceMs = 500;

export const openEventFeed = ({ client, sessionId, onFrame }: FeedOptions): EventFeed => {
  let order: EventOrder | undefined;
  let known = -1;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const take = (frames: readonly LoggedFrame[]): void => {
    if (order === undefined || isStopped) return;
    const accepted = acceptFrames(order, frames);
    order = accepted.order;
    for (const frame of accepted.ready) onFrame(frame);
    if (order.early.length > 0 || order.lastSeq < known)
      timer ??= setTimeout(() => void fill(), gapPatienceMs);
  };

  const fill = async (): Promise<void> => {
    if (order === undefined) return;
    const page = await readEvents(client, sessionId, order.lastSeq);
    timer = undefined;
    if (page.oldestSeq !== undefined) order = skipTo(order, page.oldestSeq);
    take(page.frames);
  };

  return {
    lastSeq: () => order?.lastSeq,
    greet: (lastSeq) => {
      order ??= orderFrom(lastSeq);
      known = Math.max(known, lastSeq);
      take([]);
    },
    take,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};

type Page = { readonly frames: readonly LoggedFrame[]; readonly oldestSeq?: number };
type Answer = {
  readonly events: readonly { readonly index: number; readonly type: string; readonly data: Frame['data'] }[];
};

const readEvents = async (client: HttpClient, sessionId: string, lastSeq: number): Promise<Page> => {
  try {
    const path = `/api/sessions/${segment(sessionId)}/events?since_index=${lastSeq}`;
    const { events } = await client.get<Answer>(path);
    return { frames: events.map(({ index, type, data }) => ({ type, data, sessionId, seq: index })) };
  } catch (error) {
    const { oldestIndex } = toFailure(error).body.error as { readonly oldestIndex?: number };
    // Whatever else went wrong: the gap is still there, and is looked at again.
    return { frames: [], ...(oldestIndex === undefined ? {} : { oldestSeq: oldestIndex }) };
  }
};
