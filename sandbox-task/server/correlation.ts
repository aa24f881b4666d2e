/** The id of the message or request that a caller follows: it names lines of the log, and gives no right. */
import type { IncomingMessage } from 'node:http';

export const correlationHeader = 'x-correlation-id';

const charactersMax = 128;

export const correlationOf = ({ headers }: IncomingMessage): string | undefined => {
  const value = headers[correlationHeader];
  return typeof value === 'string' ? value.slice(0, charactersMax) : undefined;
};
