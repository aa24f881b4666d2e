/**
 * Frames that went over a socket a short while ago: the failure of a frame is about one of them, and may not say about which.
 *
 * A message with an id may be sent again, since it is accepted once. Nothing else may.
 */
import type { ClientAction } from './frames.ts';

export type MessageAction = Extract<ClientAction, { readonly action: 'message' }>;

/** A function has 29 seconds for a frame (A5), and its failure is on its way for a moment. */
const failureMsMax = 40_000;
/** A message that fails more often than this is reported as failed. */
const repeatsMax = 3;

type Sent = { readonly action: ClientAction; readonly at: number; isAnswered: boolean; repeats: number };

export type Failed = {
  /** Messages to send again. */
  readonly again: readonly MessageAction[];
  /** The failure may be about something else, of which its sender must hear. */
  readonly isOfOthers: boolean;
};

export type SentFrames = {
  readonly add: (action: ClientAction) => void;
  /** It was accepted or refused. */
  readonly answer: (messageId: string) => void;
  /** Without an id: of any frame of late. */
  readonly fail: (messageId?: string) => Failed;
  /** Nothing more is reported about a lost socket. */
  readonly clear: () => void;
};

export const trackSentFrames = (): SentFrames => {
  let sent: readonly Sent[] = [];
  const find = (messageId: string): Sent | undefined =>
    sent.find(({ action }) => isRepeatable(action) && action.messageId === messageId);
  const suspects = (messageId?: string): readonly Sent[] =>
    messageId === undefined ? sent.filter(isRecent) : [find(messageId)].filter((one) => one !== undefined);
  return {
    add: (action) => {
      const before = isRepeatable(action) ? find(action.messageId) : undefined;
      const others = sent.filter((one) => one !== before && isRecent(one));
      sent = [...others, { action, at: Date.now(), isAnswered: false, repeats: before?.repeats ?? 0 }];
    },
    answer: (messageId) => {
      const one = find(messageId);
      if (one !== undefined) one.isAnswered = true;
    },
    fail: (messageId) => {
      const found = suspects(messageId);
      const open = found.filter(({ isAnswered }) => !isAnswered);
      const again: MessageAction[] = [];
      for (const one of open) {
        if (!isRepeatable(one.action) || one.repeats === repeatsMax) continue;
        one.repeats += 1;
        again.push(one.action);
      }
      return { again, isOfOthers: found.length === 0 || again.length < open.length };
    },
    clear: () => {
      sent = [];
    },
  };
};

const isRecent = ({ at }: Sent): boolean => Date.now() - at < failureMsMax;

const isRepeatable = (action: ClientAction): action is MessageAction & { readonly messageId: string } =>
  action.action === 'message' && action.messageId !== undefined;
