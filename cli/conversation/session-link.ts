/**
 * The connection to one session: it comes back by itself with the last number it saw.
 *
 * It hands on frames, logged ones in order and once; what they mean is decided elsewhere.
 */
import type { CliFailure } from '../failure.ts';
import { type HttpClient, segment } from '../http-client.ts';
import { openEventFeed } from './event-feed.ts';
import type { Frame, LoggedFrame } from './event-order.ts';
import { type GatewayLink, openGatewayLink } from './gateway-link.ts';

type SessionLinkOptions = {
  readonly client: HttpClient;
  readonly sessionId: string;
  readonly onFrame: (frame: Frame) => void;
  readonly onLost: () => void;
  readonly onEnd: (why: CliFailure) => void;
};

export const openSessionLink = (options: SessionLinkOptions): GatewayLink => {
  const { client, sessionId, onFrame, onLost, onEnd } = options;
  const feed = openEventFeed(options);
  const link = openGatewayLink({
    client,
    query: () => {
      const since = feed.lastSeq();
      return `sessionId=${segment(sessionId)}${since === undefined ? '' : `&since=${since}`}`;
    },
    greeting: 'system:ready',
    probe: `/api/sessions/${segment(sessionId)}`,
    onFrame: (frame) => {
      if (frame.type === 'system:ready') feed.greet(Number(frame.data['lastSeq'] ?? -1));
      if (frame.seq === null) onFrame(frame);
      else feed.take([frame as LoggedFrame]);
    },
    onLost,
    onEnd: (why) => {
      feed.stop();
      onEnd(why);
    },
  });
  return {
    send: link.send,
    close: () => {
      feed.stop();
      link.close();
    },
  };
};
