/**
 * The conversation as a model sees it, and how much of it fits.
 *
 * Truncation drops whole exchanges, oldest first: an exchange is a user message with every answer and tool result
 * up to the next user message, so a result never stays without its call.
 */

import type { AskedCall } from './asked-call.ts';
import type { CallId, MessageId } from './ids.ts';
import type { JsonObject } from './json.ts';

export const callOutcomes = ['completed', 'failed', 'rejected'] as const;

export type HistoryMessage =
  | { readonly role: 'user'; readonly messageId: MessageId; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly messageId: MessageId;
      readonly text: string;
      readonly calls: readonly AskedCall[];
      /** Data that only its provider understands (signed thoughts), sent back to it with the message. */
      readonly providerState?: JsonObject;
    }
  | {
      readonly role: 'tool';
      readonly callId: CallId;
      readonly name: string;
      readonly text: string;
      readonly outcome: (typeof callOutcomes)[number];
    };

export type HistoryLimits = { readonly tokensMax: number; readonly messagesMax: number };

/** An estimate without a provider: one token is about four characters. */
const charactersPerToken = 4;

export const estimateTokens = (message: HistoryMessage): number => {
  const calls = message.role === 'assistant' ? JSON.stringify(message.calls).length : 0;
  return Math.ceil((message.text.length + calls) / charactersPerToken);
};

/** The number of messages to drop from the front so that the rest fits; the newest exchange always stays. */
export const droppedByTruncation = (history: readonly HistoryMessage[], limits: HistoryLimits): number => {
  const starts = history.flatMap((message, index) => (message.role === 'user' ? [index] : []));
  const fits = (from: number): boolean => {
    const kept = history.slice(from);
    const tokens = kept.reduce((sum, message) => sum + estimateTokens(message), 0);
    return kept.length <= limits.messagesMax && tokens <= limits.tokensMax;
  };
  const first = starts.find(fits) ?? starts.at(-1) ?? 0;
  return history.length > 0 && starts.length > 0 ? first : 0;
};

/** The history without the older half of its exchanges; the newest always stays. */
export const halved = (history: readonly HistoryMessage[]): readonly HistoryMessage[] => {
  const starts = history.flatMap((message, index) => (message.role === 'user' ? [index] : []));
  return history.slice(starts[Math.ceil((starts.length - 1) / 2)] ?? 0);
};
