/**
 * The progress of a call for a client that waits: its phase, each piece of output, and a periodic sign of life.
 *
 * Only a client that sent a progress token gets any. `message` is for a person; the position of a piece is in its
 * `_meta`. Nothing waits for delivery: a client that does not read misses it.
 */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { ToolProgress } from '#shared/ports/sandbox-tools.ts';

/** Clients give up after a minute without news, some sooner. */
export const signOfLifeMs = 10_000;

export type Progress = {
  readonly onProgress: (progress: ToolProgress) => void;
  readonly onPhase: (phase: string) => void;
  readonly stop: () => void;
};

export const openProgress = ({ _meta, notify }: ServerContext['mcpReq']): Progress => {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return silent;
  let progress = 0;
  let lastPhase: string | undefined;
  const say = (message: string, meta: Readonly<Record<string, unknown>> = {}): void => {
    progress += 1;
    const params = { progressToken, progress, message, _meta: { ...meta } };
    // The client may have disconnected; the call goes on.
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  const life = setInterval(() => say('still working'), signOfLifeMs);
  return {
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
  onProgress: () => undefined,
  onPhase: () => undefined,
  stop: () => undefined,
};
