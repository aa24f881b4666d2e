/**
 * The frames a server sends: log events with their number, and unnumbered ones (marked ○ in the protocol).
 *
 * A frame over 30 KB goes out with its longest text cut and `data.truncated: true`; the log has it whole.
 */
import type { LogEvent } from '#shared/domain/event-log.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { frameBytesMax } from '#shared/domain/limits.ts';
import { cutLongestText } from '#shared/domain/text.ts';

export type Frame = {
  readonly type: string;
  readonly sessionId: SessionId;
  readonly seq: number | null;
  readonly at: string;
  readonly data: JsonObject;
};

export const eventFrame = (sessionId: SessionId, event: LogEvent): Frame => ({
  type: event.type,
  sessionId,
  seq: event.seq,
  at: new Date(event.at).toISOString(),
  data: cutLongestText(event.data as JsonObject, frameBytesMax),
});

export type UnnumberedType =
  | 'system:ready'
  | 'delta'
  | 'tool:progress'
  | 'caller_tool:request'
  | 'error'
  | 'pong';

export const unnumberedFrame = (
  type: UnnumberedType,
  { sessionId, at, data }: { readonly sessionId: SessionId; readonly at: number; readonly data: JsonObject },
): Frame => ({ type, sessionId, seq: null, at: new Date(at).toISOString(), data });
