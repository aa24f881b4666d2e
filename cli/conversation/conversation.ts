/**
 * A conversation over a connection: messages in, turns out, one after the other.
 *
 * After a lost connection a message is sent again until its event arrives; its id keeps the server from accepting it twice.
 * The completion of a message is the first one after that event.
 */
import { randomUUID } from 'node:crypto';
import { SallyportError } from '#sdk/errors.ts';
import type { ClientAction, Frame, FrameOf } from '#sdk/frames.ts';
import { api } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import { connectToSession } from '#sdk/session-connection.ts';
import { patience, stateListener } from '../runtime/client.ts';

export type Completion = FrameOf<'completion'>['data'];

export type Listener = {
  readonly onFrame: (frame: Frame) => void;
  readonly onLost: () => void;
  /** Rejects when the conversation cannot continue. */
  readonly onApproval: (frame: FrameOf<'tool:approval_required'>) => Promise<void>;
};

/** Choices for one message, instead of the session's. */
export type MessageChoices = Pick<Extract<ClientAction, { action: 'message' }>, 'model' | 'thinking'>;

export type Conversation = {
  /** Session facts of the greeting. */
  readonly ready: Promise<FrameOf<'system:ready'>['data']>;
  readonly say: (text: string, choices?: MessageChoices) => Promise<Completion>;
  readonly cancel: () => void;
  readonly close: () => void;
};

type Pending = {
  readonly action: { readonly action: 'message'; readonly text: string; readonly messageId: string };
  readonly resolve: (completion: Completion) => void;
  readonly reject: (why: unknown) => void;
  isSeen: boolean;
};

export const openConversation = (client: Sallyport, sessionId: string, listener: Listener): Conversation => {
  const greeted = Promise.withResolvers<FrameOf<'system:ready'>['data']>();
  greeted.promise.catch(() => undefined);
  let pending: Pending | undefined;

  const receive = (frame: Frame): void => {
    listener.onFrame(frame);
    switch (frame.type) {
      case 'system:ready':
        greeted.resolve(frame.data);
        if (pending?.isSeen === false) connection.send(pending.action);
        break;
      case 'message':
        if (pending?.action.messageId === frame.data.messageId) pending.isSeen = true;
        break;
      case 'tool:approval_required':
        listener.onApproval(frame).catch((error) => pending?.reject(error));
        break;
      case 'completion':
        if (pending?.isSeen === true) settle((one) => one.resolve(frame.data));
        break;
      case 'error':
        if (pending?.isSeen === false) settle((one) => one.reject(new SallyportError(0, frame.data.error)));
        break;
      default:
        break;
    }
  };
  const settle = (use: (one: Pending) => void): void => {
    const settled = pending;
    pending = undefined;
    if (settled !== undefined) use(settled);
  };

  const connection = connectToSession(client, {
    sessionId,
    isWhole: true,
    onFrame: receive,
    onState: stateListener({
      onLost: listener.onLost,
      onEnd: (why) => {
        greeted.reject(why);
        pending?.reject(why);
      },
    }),
    ...patience,
  });

  return {
    ready: greeted.promise,
    say: (text, choices = {}) =>
      new Promise((resolve, reject) => {
        const action = { action: 'message', text, messageId: randomUUID(), ...choices } as const;
        pending = { action, resolve, reject, isSeen: false };
        connection.send(action);
      }),
    cancel: () => {
      if (!connection.send({ action: 'turn:cancel' }))
        client.request(api.cancelTurn, { params: { id: sessionId } }).catch(() => undefined);
    },
    close: connection.close,
  };
};
