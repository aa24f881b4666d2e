/**
 * Messages that are sent by REST, one after another, each when the previous one was accepted.
 *
 * The answer says what became of a message. One that may have failed elsewhere is sent again here: because of its id it is
 * accepted only once.
 */
import type { ApiClient } from './api-client.ts';
import { connectionLost, SallyportError } from './errors.ts';
import type { FrameOf } from './frames.ts';
import { backOffMs, mayPass, pause } from './retry.ts';
import { api } from './routes.ts';
import type { MessageAction } from './sent-frames.ts';

/** Of a message whose request fails at the server. */
const triesMax = 4;

export type MessageQueueOptions = {
  readonly sessionId: string;
  /** Without a connection the messages are left to the caller, who sends them again after the next one. */
  readonly isConnected: () => boolean;
  /** For a message whose request does not reach the server; false when it cannot be sent so. */
  readonly sendFrame: (message: MessageAction) => boolean;
  readonly onAnswered: (messageId: string) => void;
  /** As the frame that the socket would have brought. */
  readonly onRefused: (frame: FrameOf<'error'>) => void;
};

export type MessageQueue = {
  /** Those that are in it already are not added. */
  readonly add: (messages: readonly MessageAction[]) => void;
  readonly isEmpty: () => boolean;
};

export const openMessageQueue = (sallyport: ApiClient, options: MessageQueueOptions): MessageQueue => {
  const { sessionId, isConnected, sendFrame, onAnswered, onRefused } = options;
  /** The first one is on its way. */
  const outgoing: MessageAction[] = [];
  const isOutgoing = ({ messageId }: MessageAction): boolean =>
    messageId !== undefined && outgoing.some((one) => one.messageId === messageId);

  const deliver = async (): Promise<void> => {
    let tries = 0;
    for (let first = outgoing[0]; first !== undefined; first = outgoing[0]) {
      tries += 1;
      if (await isDelivered(first, tries)) {
        outgoing.shift();
        tries = 0;
      } else if (isConnected()) await pause(backOffMs(tries, Math.random()));
      else outgoing.length = 0;
    }
  };

  const isDelivered = async (message: MessageAction, tries: number): Promise<boolean> => {
    const { action: _, ...body } = message;
    const { messageId } = body;
    const error = await sallyport
      .request(api.sendMessage, { params: { id: sessionId }, body })
      .then(() => undefined, asRefusal);
    // Without an id it might be accepted twice.
    if (error !== undefined && messageId !== undefined) {
      if (error.status === 0) return sendFrame(message);
      if (mayPass(error) && tries < triesMax) return false;
    }
    if (messageId !== undefined) onAnswered(messageId);
    if (error !== undefined) {
      const data = { error: error.facts, messageId };
      onRefused({ type: 'error', sessionId, seq: null, at: new Date().toISOString(), data });
    }
    return true;
  };

  return {
    isEmpty: () => outgoing.length === 0,
    add: (messages) => {
      const isIdle = outgoing.length === 0;
      outgoing.push(...messages.filter((one) => !isOutgoing(one)));
      if (isIdle) void deliver();
    },
  };
};

const asRefusal = (error: unknown): SallyportError =>
  error instanceof SallyportError ? error : connectionLost(error);
