/**
 * The address of a request to a preview, as the client sent it: byte for byte, unless a gateway has passed on only names and
 * values.
 */
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
