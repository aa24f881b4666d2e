/**
 * The conversation as a model sees it, and how much of it fits.
 *
 * Truncation drops whole exchanges, oldest first: an exchange is a user message with every answer and tool result
 * up to the next user message, so a result never stays without its call.
 */

import type { Attachment } from './attachment.ts';
import type { CallId, MessageId } from './ids.ts';
import type { ImageType } from './image-type.ts';
import type { JsonObject } from './json.ts';
import type { RequestedCall } from './requested-call.ts';

/** `data` is base64. */
export type HistoryImage = { readonly mimeType: ImageType; readonly data: string };

export const callOutcomes = ['completed', 'failed', 'rejected'] as const;

export type HistoryMessage =
  | {
      readonly role: 'user';
      readonly messageId: MessageId;
      readonly text: string;
      /** Files of the workspace that it is about. Absent: none. */
      readonly attachments?: readonly Attachment[];
      /** Those that the user showed, read for one call of the model: never stored here. Absent: none. */
      readonly images?: readonly HistoryImage[];
    }
  | {
      readonly role: 'assistant';
      readonly messageId: MessageId;
      readonly text: string;
      readonly calls: readonly RequestedCall[];
      /** Data that only its provider understands (signed thoughts), sent back to it with the message. */
      readonly providerState?: JsonObject;
    }
  | {
      readonly role: 'tool';
      readonly callId: CallId;
      readonly name: string;
      readonly text: string;
      readonly outcome: (typeof callOutcomes)[number];
      /** Absent: none. */
      readonly images?: readonly HistoryImage[];
    };

export type HistoryLimits = { readonly tokensMax: number; readonly messagesMax: number };

/** An estimate without a provider: one token is about four characters. */
export const charactersPerToken = 4;
/** Of a large one: providers count by pixels, and scale down above about this. */
const tokensPerImage = 1600;

export const estimateTokens = (message: HistoryMessage): number => {
  const calls = message.role === 'assistant' ? JSON.stringify(message.calls).length : 0;
  const images = message.role === 'assistant' ? 0 : (message.images ?? attachedImages(message)).length;
  return Math.ceil((message.text.length + calls) / charactersPerToken) + images * tokensPerImage;
};

export const estimateHistory = (history: readonly HistoryMessage[]): number =>
  history.reduce((sum, message) => sum + estimateTokens(message), 0);

/**
 * The history without answers that broke off and are given again: those of failed turns that were repeated. Any other answer
 * without calls ends its turn, so that a message of the user follows it.
 */
export const withoutRepeatedAnswers = (history: readonly HistoryMessage[]): readonly HistoryMessage[] =>
  history.filter(
    (message, index) =>
      message.role !== 'assistant' ||
      message.calls.length > 0 ||
      !(history[index + 1] === undefined || history[index + 1]?.role === 'assistant'),
  );

const attachedImages = (message: Exclude<HistoryMessage, { role: 'assistant' }>): readonly unknown[] =>
  message.role === 'user' ? (message.attachments ?? []).filter(({ mimeType }) => mimeType !== undefined) : [];

/**
 * The number of messages to drop from the front so that the rest fits; the newest exchange always stays, and all from `freshAt` on,
 * which are not written yet.
 */
export const droppedByTruncation = (
  history: readonly HistoryMessage[],
  limits: HistoryLimits,
  freshAt = history.length,
): number => {
  const starts = history.flatMap((message, index) =>
    message.role === 'user' && index <= freshAt ? [index] : [],
  );
  const fits = (from: number): boolean => {
    const kept = history.slice(from);
    return kept.length <= limits.messagesMax && estimateHistory(kept) <= limits.tokensMax;
  };
  const first = starts.find(fits) ?? starts.at(-1) ?? 0;
  return history.length > 0 && starts.length > 0 ? first : 0;
};

/** The history without the older half of its exchanges; the newest always stays. */
export const halved = (history: readonly HistoryMessage[]): readonly HistoryMessage[] => {
  const starts = history.flatMap((message, index) => (message.role === 'user' ? [index] : []));
  return history.slice(starts[Math.ceil((starts.length - 1) / 2)] ?? 0);
};
