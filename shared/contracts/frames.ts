/**
 * The frames a server sends: log events with their number, and unnumbered ones (marked ○ in the protocol).
 *
 * A frame over 30 KB goes out with its longest text cut and `data.truncated: true`; the log has it whole. Of a call that
 * waits for a person only the arguments are cut, and `argsTruncated` says so: what tells it apart is always whole.
 */
import type { LogEntry, LogEvent } from '#shared/domain/event-log.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { Json, JsonObject } from '#shared/domain/json.ts';
import { frameBytesMax } from '#shared/domain/limits.ts';
import { cutLongestText, utf8Bytes } from '#shared/domain/text.ts';

export type Frame = {
  readonly type: string;
  /** Null on a connection that belongs to no session. */
  readonly sessionId: SessionId | null;
  readonly seq: number | null;
  readonly at: string;
  readonly data: JsonObject;
};

export const eventFrame = (sessionId: SessionId, event: LogEvent): Frame => ({
  type: event.type,
  sessionId,
  seq: event.seq,
  at: new Date(event.at).toISOString(),
  data: cutData(event, frameBytesMax),
});

/** The data of an event within a bound. Ids, names and digests have limits far below it. */
export const cutData = ({ type, data }: LogEntry, bytesMax: number): JsonObject => {
  if (type !== 'tool:approval_required') return cutLongestText(data as JsonObject, bytesMax);
  const { args, ...rest } = data;
  if (bytesOf(data) <= bytesMax) return data;
  const marks = { truncated: true, argsTruncated: true };
  const room = bytesMax - bytesOf({ ...rest, ...marks }) - bytesOf('args') - 1;
  return { ...rest, args: cutArguments(args, room), ...marks };
};

/** True if the request went out without a part of its arguments: an approval must prove that the rest was seen. */
export const isCutForSocket = (request: Extract<LogEntry, { type: 'tool:approval_required' }>): boolean =>
  bytesOf(request.data) > frameBytesMax;

/** As they are shown where there is no room for all of them. */
export const cutArguments = (args: JsonObject, bytesMax: number): JsonObject => {
  if (bytesOf(args) <= bytesMax) return args;
  const { truncated: _, ...cut } = cutLongestText(args, bytesMax);
  return 'truncated' in args ? {} : cut;
};

const bytesOf = (value: Json): number => utf8Bytes(JSON.stringify(value));

export type UnnumberedType =
  | 'system:ready'
  | 'delta'
  | 'tool:progress'
  | 'caller_tool:request'
  | 'approvals'
  | 'error'
  | 'pong';

export const unnumberedFrame = (
  type: UnnumberedType,
  {
    sessionId,
    at,
    data,
  }: { readonly sessionId: SessionId | null; readonly at: number; readonly data: JsonObject },
): Frame => ({ type, sessionId, seq: null, at: new Date(at).toISOString(), data });
