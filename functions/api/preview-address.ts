/**
 * The address of a request to a preview, as the client sent it: byte for byte, unless a gateway has passed on only names and
 * values.
 */
import { header } from '#shared/contracts/credentials.ts';
import { queryAsSent, withoutField } from '#shared/contracts/preview-query.ts';
import { type ApiEvent, queryText } from './api-route.ts';

/** The client's encoding stays: the page decides whether `%2F` divides a path. */
export const asSent = (path: string): string =>
  path.toWellFormed().replace(/[^\x21-\x7e]+/g, (text) => encodeURIComponent(text));

/** With its question mark; empty where there is none. */
export const queryOfPreview = (event: ApiEvent): string => {
  const sent = queryAsSent(event.headers);
  if (sent !== undefined) return asSent(sent);
  const text = queryText(event.multiValueQueryStringParameters);
  return text === '' ? '' : `?${text}`;
};

export const withoutTicket = (event: ApiEvent): string => {
  const query = queryOfPreview(event);
  return query === '' ? '' : withoutField(query, 'ticket');
};

/**
 * A browser opens a document. It says that it navigates (`Sec-Fetch-Mode`), and no page can say so for it; over plain HTTP to another
 * machine it says only what it accepts.
 */
export const opensPage = ({ headers }: ApiEvent): boolean => {
  const mode = header(headers, 'sec-fetch-mode');
  return mode === undefined ? /\btext\/html\b/.test(header(headers, 'accept') ?? '') : mode === 'navigate';
};
