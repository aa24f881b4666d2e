/**
 * Reducers of the tool calls among the items: requests, decisions and results.
 *
 * Pure; used by view-state.ts. A frame about an unknown call changes nothing.
 */

import type { Frame } from '#sdk/frames.ts';
import type { Decision } from '#sdk/routes.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { CallItem, Decided, Items } from './items.ts';
import { addOutput, emptyOutput } from './text-stream.ts';

type CallFrame = Extract<Frame, { readonly type: `tool:${string}` }>;
type RequestData = Extract<Frame, { readonly type: 'tool:approval_required' }>['data'];
type DecidedData = Extract<Frame, { readonly type: 'tool:decided' }>['data'];
type OutputData = Extract<Frame, { readonly type: 'tool:output' }>['data'];

/** `id`: the id of the item that the frame may create. */
export const reduceCalls = (items: Items, id: string, frame: CallFrame): Items => {
  switch (frame.type) {
    case 'tool:call':
      return [...items, newCall(id, frame.data, frame.seq)];
    case 'tool:approval_required': {
      const queue = { position: frame.data.queuePosition, total: frame.data.totalInQueue };
      const isKnown = findCall(items, frame.data.callId) !== -1;
      const known = isKnown ? items : [...items, newCall(id, frame.data, frame.seq)];
      return changeCall(passOthers(known, frame.data.callId), frame.data.callId, (call) => ({
        ...call,
        // An agent in the sandbox may ask under another name than its tool's.
        name: frame.data.name,
        args: frame.data.args,
        request: requestOf(frame.data),
        status: 'waiting',
        decision: null,
        queue,
      }));
    }
    case 'tool:decided':
      return changeCall(items, frame.data.callId, (call) => ({
        ...call,
        status: frame.data.approved ? 'approved' : 'rejected',
        decided: decidedOf(frame.data, frame.at),
      }));
    case 'tool:progress':
      return changeCall(items, frame.data.callId, (call) =>
        isOver(call) ? call : { ...call, status: 'running', live: addOutput(call.live, frame.data) },
      );
    case 'tool:rejected':
      return changeCall(items, frame.data.callId, (call) => ({ ...call, status: 'rejected' }));
    case 'tool:output':
      return changeCall(items, frame.data.callId, (call) => ({
        ...call,
        status: 'done',
        ...resultOf(frame.data, frame.seq),
      }));
    default:
      return items;
  }
};

export const decideCall = (items: Items, itemId: string, decision: Decision): Items =>
  changeItem(items, itemId, (call) => (call.decision === null ? { ...call, decision } : call));

/** The decision did not arrive or was not accepted: the user may decide again. */
export const undecideCall = (items: Items, itemId: string): Items =>
  changeItem(items, itemId, (call) => ({ ...call, decision: null }));

const changeItem = (items: Items, itemId: string, change: (call: CallItem) => CallItem): Items =>
  items.map((item) =>
    item.id === itemId && item.kind === 'call' && item.status === 'waiting' ? change(item) : item,
  );

export const failCall = (
  items: Items,
  callId: string,
  problem: { readonly code: string; readonly message: string },
): Items => changeCall(items, callId, (call) => ({ ...call, status: 'failed', problem }));

/** A decision may have been lost with the connection: the server asks again, and so does the page. */
export const reopenDecisions = (items: Items): Items =>
  items.map((item) =>
    item.kind === 'call' && item.status === 'waiting' && item.decision !== null
      ? { ...item, decision: null }
      : item,
  );

/** No call outlives its turn: an undecided or unanswered call has ended. */
export const closeCalls = (items: Items): Items => {
  const isOpen = (item: Items[number]): boolean =>
    item.kind === 'call' && !isOver(item) && item.childSession === null;
  if (!items.some(isOpen)) return items;
  return items.map((item) =>
    item.kind === 'call' && isOpen(item) ? { ...item, status: 'ended', decision: null } : item,
  );
};

/** Only the pending approvals of a child session are shown here. */
export const reduceChildCalls = (items: Items, frame: Frame): Items => {
  if (frame.sessionId === null) return items;
  if (frame.type === 'tool:approval_required') return addChildCall(items, frame.sessionId, frame.data);
  if (frame.type !== 'system' || frame.data.kind !== 'child_settled') return items;
  const { callId } = frame.data;
  return withoutChildCalls(items, frame.sessionId, typeof callId === 'string' ? callId : undefined);
};

/** Shows a waiting call of a child session until it is decided. */
const addChildCall = (items: Items, session: string, data: RequestData): Items => {
  const id = `child-${session}-${data.callId}`;
  const queue = { position: data.queuePosition, total: data.totalInQueue };
  const call: CallItem = {
    ...newCall(id, data, null),
    childSession: session,
    request: requestOf(data),
    status: 'waiting',
    queue,
  };
  // A session has one waiting call at a time: the one before is decided.
  return [...withoutChildCalls(items, session), call];
};

/** Removes one call of a child session, or without `callId` all of them. */
const withoutChildCalls = (items: Items, session: string, callId?: string): Items =>
  items.filter(
    (item) =>
      item.kind !== 'call' ||
      item.childSession !== session ||
      (callId !== undefined && item.callId !== callId),
  );

/** Replaces truncated arguments. */
export const completeArgs = (items: Items, itemId: string, args: JsonObject): Items =>
  items.map((item) =>
    item.id === itemId && item.kind === 'call' ? { ...item, args, argsCutSeq: null } : item,
  );

/** Replaces a truncated result. */
export const completeOutput = (
  items: Items,
  itemId: string,
  content: NonNullable<CallItem['content']>,
): Items =>
  items.map((item) =>
    item.id === itemId && item.kind === 'call' ? { ...item, content, cutSeq: null } : item,
  );

/** Calls are decided one at a time: when the next one waits, the one before was approved. */
const passOthers = (items: Items, callId: string): Items => {
  const isPassed = (item: Items[number]): item is CallItem =>
    item.kind === 'call' && item.callId !== callId && item.status === 'waiting' && item.childSession === null;
  if (!items.some(isPassed)) return items;
  return items.map((item) => (isPassed(item) ? { ...item, status: 'approved' } : item));
};

/** True for a frame with truncated arguments or data. */
const isCut = (data: object): boolean => 'argsTruncated' in data || 'truncated' in data;

const requestOf = (data: RequestData): CallItem['request'] => ({
  turnId: data.turnId,
  digest: data.digest,
  askedAt: data.askedAt,
  isCut: isCut(data),
  ...(data.effect === undefined ? {} : { effect: data.effect, effectDigest: data.effectDigest }),
  ...(data.effectMissing === undefined ? {} : { effectMissing: data.effectMissing }),
  ...(data.advisory === undefined ? {} : { advisory: data.advisory }),
});

const decidedOf = ({ approved, by, reason, editedArgs }: DecidedData, at: string): Decided => ({
  isApproved: approved,
  by,
  at,
  reason: reason ?? null,
  editedArgs: editedArgs ?? null,
});

type CallData = { readonly callId: string; readonly name: string; readonly args: JsonObject };

const newCall = (id: string, data: CallData, seq: number | null): CallItem => ({
  kind: 'call',
  id,
  callId: data.callId,
  childSession: null,
  name: data.name,
  args: data.args,
  argsCutSeq: isCut(data) ? seq : null,
  request: null,
  decided: null,
  status: 'requested',
  decision: null,
  queue: null,
  live: emptyOutput,
  content: null,
  problem: null,
  cutSeq: null,
  durationMs: null,
});

const isOver = ({ status }: CallItem): boolean =>
  status === 'done' || status === 'failed' || status === 'rejected' || status === 'ended';

const resultOf = (
  data: OutputData,
  seq: number | null,
): Pick<CallItem, 'content' | 'cutSeq' | 'durationMs'> => ({
  content: data.content,
  cutSeq: 'truncated' in data ? seq : null,
  durationMs: data.durationMs,
});

/** Call ids are unique within a turn only: the newest call with the id counts. */
const findCall = (items: Items, callId: string): number =>
  items.findLastIndex((item) => item.kind === 'call' && item.callId === callId && item.childSession === null);

/** The same list when nothing changed. */
const changeCall = (items: Items, callId: string, change: (call: CallItem) => CallItem): Items => {
  const index = findCall(items, callId);
  const call = items[index];
  if (call?.kind !== 'call') return items;
  const changed = change(call);
  return changed === call ? items : items.with(index, changed);
};
