/**
 * The notifications of a call for a client that waits: its progress (its phase, each piece of output, and a periodic sign of
 * life), and the events of a session. Nothing waits for delivery: a client that does not read misses it.
 *
 * Only a client that sent a progress token gets progress. `message` is for a person; the position of a piece is in its
 * `_meta`.
 */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { SessionId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { ToolProgress } from '#shared/ports/sandbox.ts';

/** Clients give up after a minute without news, some sooner. */
const signOfLifeMs = 10_000;

type Progress = {
  readonly onSession: (id: SessionId) => void;
  readonly onProgress: (progress: ToolProgress) => void;
  readonly onPhase: (phase: string) => void;
  readonly stop: () => void;
};

export const openProgress = ({ _meta, notify }: ServerContext['mcpReq']): Progress => {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return silent;
  let progress = 0;
  let lastPhase: string | undefined;
  let sessionId: SessionId | undefined;
  const say = (message: string, meta: Readonly<Record<string, unknown>> = {}): void => {
    progress += 1;
    const session = sessionId === undefined ? {} : { 'dev.sallyport/sessionId': sessionId };
    const params = { progressToken, progress, message, _meta: { ...meta, ...session } };
    // The client may have disconnected; the call goes on.
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  const life = setInterval(() => say('still working'), signOfLifeMs);
  return {
    onSession: (id) => {
      sessionId = id;
      life.refresh();
      say(`[session ${id}]`);
    },
    onProgress: ({ stream, offset, text }) => {
      life.refresh();
      say(text, { 'dev.sallyport/stream': stream, 'dev.sallyport/offset': offset });
    },
    onPhase: (phase) => {
      if (phase === lastPhase) return;
      lastPhase = phase;
      life.refresh();
      say(`[${phase}]`, { 'dev.sallyport/phase': phase });
    },
    stop: () => clearInterval(life),
  };
};

const silent: Progress = {
  onSession: () => undefined,
  onProgress: () => undefined,
  onPhase: () => undefined,
  stop: () => undefined,
};

const logger = 'sallyport.session';
const levelMeta = 'io.modelcontextprotocol/logLevel';
/** Levels above `info`: a client that names one of them gets errors alone, or nothing. */
const aboveInfo: readonly unknown[] = ['notice', 'warning', 'error'];
const aboveError: readonly unknown[] = ['critical', 'alert', 'emergency'];

/**
 * The events of a session: `notifications/message` of one logger, on the response of its call. Waiting subscribes to
 * them, whatever log level the client set elsewhere; a level in the call itself bounds them.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
 */
export const openTelling = ({ _meta, notify }: ServerContext['mcpReq']) => {
  const wanted = _meta?.[levelMeta];
  return (level: 'info' | 'error', data: JsonObject): void => {
    if (aboveError.includes(wanted) || (level === 'info' && aboveInfo.includes(wanted))) return;
    const params = { level, logger, data };
    notify({ method: 'notifications/message', params }).catch(() => undefined);
  };
};
