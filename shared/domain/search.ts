/**
 * Search for words in titles and messages: a text matches if it holds every word, in any order and case. The found part is shown
 * with some of the text around its first word.
 */
import type { HistoryMessage } from './history.ts';
import type { MessageId } from './ids.ts';

/** Characters of a search, the sessions of one page of it, and those that are read at a time. */
export const searchTextCharactersMax = 200;
export const searchedSessionsMax = 25;
export const searchReadsMax = 5;
/** Messages of one conversation that a search reads, the newest, and the characters of them as JSON. */
export const searchedMessagesMax = 1000;
export const searchedCharactersMax = 2_000_000;
/** Messages of one conversation that a search names, the newest that match. */
export const searchMatchesMax = 3;

export type FoundText = { readonly before: string; readonly match: string; readonly after: string };

export type FoundMessage = FoundText & {
  readonly messageId: MessageId;
  readonly role: 'user' | 'assistant';
};

/** Characters shown on each side of a match. */
const aroundCharactersMax = 80;

export type SearchWords = readonly RegExp[];

/** Each distinct word once. */
export const searchWords = (text: string): SearchWords =>
  [...new Set(text.toLowerCase().split(/\s+/u))]
    .filter((word) => word !== '')
    .map((word) => new RegExp(word.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`), 'iu'));

export const findWords = (text: string, words: SearchWords): FoundText | undefined => {
  const [first] = words;
  const found = first?.exec(text);
  if (found === undefined || found === null || !words.every((word) => word.test(text))) return undefined;
  const [match] = found;
  const end = found.index + match.length;
  return {
    before: text.slice(Math.max(0, found.index - aroundCharactersMax), found.index),
    match,
    after: text.slice(end, end + aroundCharactersMax),
  };
};

/** Messages of the user and the agent, in the order given; results of tools are not searched. */
export const findMessages = (
  messages: readonly HistoryMessage[],
  words: SearchWords,
  messagesMax: number,
): readonly FoundMessage[] => {
  const found: FoundMessage[] = [];
  for (const message of messages) {
    if (found.length === messagesMax) break;
    if (message.role === 'tool') continue;
    const text = findWords(message.text, words);
    if (text !== undefined) found.push({ messageId: message.messageId, role: message.role, ...text });
  }
  return found;
};
