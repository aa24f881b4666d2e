/**
 * A conversation over a link: messages in, turns out, one after the other.
 *
 * A message is sent again after a lost connection until its event is seen: its id keeps it from counting twice.
 * The completion of a message is the first one after that event.
 */
import { randomUUID } from 'node:crypto';
import type { CliFailure } from '../failure.ts';
import { CliFailure as Failure, readErrorBody } from '../failure.ts';
import { type HttpClient, segment } from '../http-client.ts';
import type { Frame } from './event-order.ts';
import { openSessionLink } from './session-link.ts';

export type Completion = {
  readonly turnId: string;
  readonly stopReason: string;
  readonly text: string;
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
};

export type Listener = {
  readonly onFrame: (frame: Frame) => void;
  readonly onLost: () => void;
  /** Rejects when the conversation cannot go on. */
  readonly onApproval: (frame: Frame) => Promise<void>;
};

export type Conversation = {
  /** System facts of the greeting. */
  readonly ready: Promise<Frame['data']>;
  readonly say: (text: string, model?: string) => Promise<Completion>;
  readonly cancel: () => void;
  readonly close: () => void;
};

/** The gateway cuts a connection for a frame over 32 KB; a longer text goes by REST. */
const frameBytesMax = 30 * 1024;

type Pending = {
  readonly messageId: string;
  readonly action: { readonly action: 'message' } & Readonly<Record<string, unknown>>;
  readonly resolve: (completion: Completion) => void;
  readonly reject: (why: CliFailure) => void;
  isSeen: boolean;
};

export const openConversation = (client: HttpClient, sessionId: string, listener: Listener): Conversation => {
  const greeted = Promise.withResolvers<Frame['data']>();
  greeted.promise.catch(() => undefined);
  let pending: Pending | undefined;

  const submit = (one: Pending): void => {
    if (Buffer.byteLength(JSON.stringify(one.action)) <= frameBytesMax) return void link.send(one.action);
    const { action: _, ...body } = one.action;
    client.send('POST', `/api/sessions/${segment(sessionId)}/messages`, body).catch(one.reject);
  };

  const receive = (frame: Frame): void => {
    listener.onFrame(frame);
    const handler = handlers[frame.type];
    handler?.(frame);
  };

  const handlers: Readonly<Record<string, (frame: Frame) => void>> = {
    'system:ready': ({ data }) => {
      greeted.resolve(data);
      if (pending !== undefined && !pending.isSeen) submit(pending);
    },
    message: ({ data }) => {
      if (pending !== undefined && data['messageId'] === pending.messageId) pending.isSeen = true;
    },
    'tool:approval_required': (frame) =>
      void listener.onApproval(frame).catch((error) => pending?.reject(error)),
    completion: ({ data }) => {
      if (pending === undefined || !pending.isSeen) return;
      const done = pending;
      pending = undefined;
      done.resolve(data as Completion);
    },
    error: ({ data }) => {
      const body = readErrorBody(data);
      if (pending === undefined || pending.isSeen || body === undefined) return;
      pending.reject(new Failure(body));
      pending = undefined;
    },
  };

  const link = openSessionLink({
    client,
    sessionId,
    onFrame: receive,
    onLost: listener.onLost,
    onEnd: (why) => {
      greeted.reject(why);
      pending?.reject(why);
    },
  });

  return {
    ready: greeted.promise,
    say: (text, model) =>
      new Promise((resolve, reject) => {
        const messageId = randomUUID();
        const action = {
          action: 'message',
          text,
          messageId,
          ...(model === undefined ? {} : { model }),
        } as const;
        pending = { messageId, action, resolve, reject, isSeen: false };
        submit(pending);
      }),
    cancel: () => {
      if (!link.send({ action: 'turn:cancel' }))
        void client.send('POST', `/api/sessions/${segment(sessionId)}/cancel`).catch(() => undefined);
    },
    close: link.close,
  };
};
