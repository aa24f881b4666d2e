/**
 * Search over titles and messages, in the order of the list of sessions: each page reads a bounded number of sessions, and a
 * bounded part of each conversation, the newest. No index is kept, so a turn writes nothing for it (ADR 0039).
 */
import type { Principal } from '../../domain/principal.ts';
import {
  type FoundMessage,
  findMessages,
  findWords,
  type SearchWords,
  searchedCharactersMax,
  searchedMessagesMax,
  searchMatchesMax,
  searchReadsMax,
  searchWords,
} from '../../domain/search.ts';
import type { Session } from '../../domain/session.ts';
import type { Deps } from '../deps.ts';
import { listSessions } from './list-sessions.ts';

export type SearchRequest = {
  readonly text: string;
  readonly principal: Principal;
  readonly project?: string | undefined;
  readonly archived?: boolean | undefined;
  readonly after?: string | undefined;
  /** Sessions of one page. */
  readonly sessionsMax: number;
};

export type FoundSession = {
  readonly session: Session;
  readonly isTitleFound: boolean;
  /** The newest that match. */
  readonly messages: readonly FoundMessage[];
};

export type SearchPage = {
  readonly found: readonly FoundSession[];
  readonly searchedSessions: number;
  /** Conversations of which older messages were not searched. */
  readonly cutConversations: number;
  readonly next?: string;
};

type Searched = FoundSession & { readonly isCut: boolean };

export const searchSessions = async (
  ports: Deps<'sessions' | 'projects' | 'turns'>,
  { text, sessionsMax, ...search }: SearchRequest,
): Promise<SearchPage> => {
  const words = searchWords(text);
  const { sessions, ...rest } = await listSessions(ports, { ...search, itemsMax: sessionsMax });
  const searched: Searched[] = [];
  for (let first = 0; first < sessions.length; first += searchReadsMax) {
    const some = sessions.slice(first, first + searchReadsMax);
    searched.push(...(await Promise.all(some.map((session) => searchIn(ports, session, words)))));
  }
  return {
    found: searched.filter(({ isTitleFound, messages }) => isTitleFound || messages.length > 0),
    searchedSessions: searched.length,
    cutConversations: searched.filter(({ isCut }) => isCut).length,
    ...rest,
  };
};

const searchIn = async (
  { turns }: Deps<'turns'>,
  session: Session,
  words: SearchWords,
): Promise<Searched> => {
  const isTitleFound = findWords(session.title ?? '', words) !== undefined;
  if (session.kind !== 'agent') return { session, isTitleFound, messages: [], isCut: false };
  const bounds = { messagesMax: searchedMessagesMax, charactersMax: searchedCharactersMax };
  const { messages, isWhole } = await turns.newestHistory(session.id, bounds);
  return {
    ...{ session, isTitleFound, isCut: !isWhole },
    messages: findMessages(messages, words, searchMatchesMax),
  };
};
