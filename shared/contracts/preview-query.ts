/**
 * The query of a preview as the client sent it. An event of API Gateway has it decoded by names: it cannot tell `&a` from `&a=` or `+` from a
 * blank, nor the order of two names. CloudFront and the gateway of one machine pass it on in a header, and let none of the client through.
 */
import { header } from './credentials.ts';

/** With its question mark; absent where there is no query, or one that is longer than a header may be. */
export const queryHeader = 'x-forwarded-query';

type Headers = Parameters<typeof header>[0];

export const queryAsSent = (headers: Headers): string | undefined => {
  const query = header(headers, queryHeader);
  return query?.startsWith('?') ? query : undefined;
};

export const withoutField = (query: string, name: string): string => {
  const kept = query
    .slice(1)
    .split('&')
    .filter((field) => !new URLSearchParams(field).has(name));
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
};
