/** Results of a search so far, over the pages that were read. Pure. */
import type { SearchPage } from '#sdk/routes.ts';

export type Searched = {
  readonly isBegun: boolean;
  readonly found: SearchPage['found'];
  readonly sessions: number;
  /** Conversations whose older messages were not searched. */
  readonly cut: number;
  readonly next: string | undefined;
};

export const nothingSearched: Searched = { isBegun: false, found: [], sessions: 0, cut: 0, next: undefined };

export const withPage = (so: Searched, page: SearchPage): Searched => ({
  isBegun: true,
  found: [...so.found, ...page.found],
  sessions: so.sessions + page.searchedSessions,
  cut: so.cut + page.cutConversations,
  next: page.next,
});

export const searchedLabel = ({ found, sessions, cut, next }: Searched): string => {
  const where = `${next === undefined ? '' : 'the newest '}${sessions} ${sessions === 1 ? 'session' : 'sessions'}`;
  const long = cut === 1 ? 'one long conversation' : `${cut} long conversations`;
  return `${found.length} found in ${where}${cut === 0 ? '' : ` · only the newest messages of ${long}`}`;
};
