/**
 * The events of a session for the client that waits for it: `notifications/message` of one logger, on the
 * response of its call. Waiting subscribes to them, whatever log level the client set elsewhere; a level in the
 * call itself bounds them. Nothing waits for delivery: a client that does not read misses it.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
 */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { JsonObject } from '#shared/domain/json.ts';

const logger = 'sallyport.session';
const levelMeta = 'io.modelcontextprotocol/logLevel';
/** Levels above `info`: a client that names one of them gets errors alone, or nothing. */
const aboveInfo: readonly unknown[] = ['notice', 'warning', 'error'];
const aboveError: readonly unknown[] = ['critical', 'alert', 'emergency'];

export const openTelling = ({ _meta, notify }: ServerContext['mcpReq']) => {
  const wanted = _meta?.[levelMeta];
  return (level: 'info' | 'error', data: JsonObject): void => {
    if (aboveError.includes(wanted) || (level === 'info' && aboveInfo.includes(wanted))) return;
    const params = { level, logger, data };
    notify({ method: 'notifications/message', params }).catch(() => undefined);
  };
};
