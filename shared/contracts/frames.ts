/**
 * The frames a server sends: log events with their number, and unnumbered ones (marked ○ in the protocol).
 *
 * A frame over 30 KB goes out with its longest text cut and `data.truncated: true`; the log has it whole. Of a
 * call that waits for a person only the arguments are cut, and `argsTruncated` marks it: the fields that identify
 * it are always whole.
 */

import type { LogEntry, LogEvent } from '#shared/domain/event-log.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { cutLongestText, type Json, type JsonObject } from '#shared/domain/json.ts';
import { frameBytesMax } from '#shared/domain/limits.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import { iso } from './fields.ts';

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
  at: iso(event.at),
  data: cutData(event, frameBytesMax),
});

/**
 * The fields of an event about a call that may be cut; its ids, names, digests and its decider have limits far
 * below.
 */
const longFields: Readonly<Partial<Record<LogEntry['type'], string>>> = {
  'tool:call': 'args',
  'tool:approval_required': 'args',
  'tool:decided': 'editedArgs',
  'tool:output': 'content',
  'caller_tool:request': 'args',
};

/** The data of an event within a bound. */
export const cutData = ({ type, data }: LogEntry, bytesMax: number): JsonObject => {
  const whole = data as JsonObject;
  if (bytesOf(whole) <= bytesMax) return whole;
  const field = longFields[type];
  if (field === undefined || whole[field] === undefined) return cutLongestText(whole, bytesMax);
  const { [field]: long = {}, ...rest } = whole;
  const asked = type === 'tool:approval_required' ? { argsTruncated: true } : {};
  const marks = { truncated: true, ...asked };
  const room = bytesMax - bytesOf({ ...rest, ...marks }) - bytesOf(field) - 2;
  return { ...rest, [field]: cutJson(long, room), ...marks };
};

/** True when its request went out without a part of its arguments: a person who approves it must have seen the rest. */
export const isCutForSocket = (request: Extract<LogEntry, { type: 'tool:approval_required' }>): boolean =>
  bytesOf(request.data) > frameBytesMax;

/** Arguments, cut where there is no room for all of them. */
export const cutArguments = (args: JsonObject, bytesMax: number): JsonObject =>
  cutJson(args, bytesMax) as JsonObject;

/** A value within a bound; one that is too long without having long texts becomes empty. */
const cutJson = (value: Json, bytesMax: number): Json => {
  if (bytesOf(value) <= bytesMax) return value;
  const cut = cutLongestText({ value }, bytesMax)['value'];
  return cut ?? (Array.isArray(value) ? [] : {});
};

const bytesOf = (value: Json): number => utf8Bytes(JSON.stringify(value));

type UnnumberedType =
  | 'system:ready'
  | 'system'
  | 'delta'
  | 'reasoning_delta'
  | 'tool:progress'
  | 'caller_tool:request'
  | 'approvals'
  | 'error'
  | 'caller_tools:declared'
  | 'process:output'
  | 'process:exit'
  | 'pong';

export const unnumberedFrame = (
  type: UnnumberedType,
  {
    sessionId,
    at,
    data,
  }: { readonly sessionId: SessionId | null; readonly at: number; readonly data: JsonObject },
): Frame => ({ type, sessionId, seq: null, at: iso(at), data });
