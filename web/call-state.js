/**
 * The tool calls among the items of the page: what was asked, what a human decided, what came out.
 *
 * Pure; the part of view-state.js that is about calls. A call that this page never saw changes nothing.
 * @import { JsonObject } from '#shared/domain/json.ts'
 * @import { Frame } from './connection/protocol.js'
 * @import { LiveOutput } from './text-stream.js'
 * @import { Item } from './view-state.js'
 */
import { addOutput, emptyOutput } from './text-stream.js';

/**
 * @typedef {'approve' | 'reject' | 'always'} Decision
 * @typedef {'asked' | 'waiting' | 'approved' | 'running' | 'done' | 'failed' | 'rejected'} CallStatus
 *
 * `decision` is what was said here and is not confirmed yet; `place` is the call's place among those that wait.
 * @typedef {{
 *   readonly kind: 'call',
 *   readonly id: string,
 *   readonly callId: string,
 *   readonly name: string,
 *   readonly args: JsonObject,
 *   readonly status: CallStatus,
 *   readonly decision: Decision | null,
 *   readonly place: { readonly position: number, readonly total: number } | null,
 *   readonly live: LiveOutput,
 *   readonly result: string | null,
 *   readonly isCut: boolean,
 *   readonly durationMs: number | null,
 * }} CallItem
 *
 * @typedef {readonly Item[]} Items
 * @typedef {Extract<Frame, { readonly type: 'tool:output' }>['data']} OutputData
 */

/**
 * @param {Items} items
 * @param {string} id of the item that the frame may become
 * @param {Extract<Frame, { readonly type: `tool:${string}` }>} frame
 * @returns {Items}
 */
export const reduceCalls = (items, id, { type, data }) => {
  switch (type) {
    case 'tool:call':
      return [...items, newCall(id, data)];
    case 'tool:approval_required': {
      const place = { position: data.queuePosition, total: data.totalInQueue };
      const known = findCall(items, data.callId) === undefined ? [...items, newCall(id, data)] : items;
      return changeCall(passOthers(known, data.callId), data.callId, (call) => ({
        ...call,
        status: 'waiting',
        decision: null,
        place,
      }));
    }
    case 'tool:progress':
      return changeCall(items, data.callId, (call) =>
        isOver(call) ? call : { ...call, status: 'running', live: addOutput(call.live, data) },
      );
    case 'tool:rejected':
      return changeCall(items, data.callId, (call) => ({ ...call, status: 'rejected' }));
    case 'tool:output':
      return changeCall(items, data.callId, (call) => ({ ...call, status: 'done', ...resultOf(data) }));
  }
};

/**
 * @param {Items} items
 * @param {string} callId
 * @param {Decision} decision
 * @returns {Items}
 */
export const decideCall = (items, callId, decision) =>
  changeCall(items, callId, (call) =>
    call.status === 'waiting' && call.decision === null ? { ...call, decision } : call,
  );

/**
 * @param {Items} items
 * @param {string} callId
 * @param {string} message
 * @returns {Items}
 */
export const failCall = (items, callId, message) =>
  changeCall(items, callId, (call) => ({ ...call, status: 'failed', result: message }));

/**
 * A decision may have been lost with the connection. The server asks again, and so does the page.
 * @param {Items} items
 * @returns {Items}
 */
export const askAgain = (items) =>
  items.map((item) =>
    item.kind === 'call' && item.status === 'waiting' && item.decision !== null
      ? { ...item, decision: null }
      : item,
  );

/**
 * Calls are decided one at a time: when the next one waits, the one before it was approved, whoever did it.
 * @param {Items} items
 * @param {string} callId
 * @returns {Items}
 */
const passOthers = (items, callId) =>
  items.map((item) =>
    item.kind === 'call' && item.callId !== callId && item.status === 'waiting'
      ? { ...item, status: 'approved' }
      : item,
  );

/**
 * @param {string} id
 * @param {{ readonly callId: string, readonly name: string, readonly args: JsonObject }} data
 * @returns {CallItem}
 */
const newCall = (id, { callId, name, args }) => ({
  kind: 'call',
  id,
  callId,
  name,
  args,
  status: 'asked',
  decision: null,
  place: null,
  live: emptyOutput,
  result: null,
  isCut: false,
  durationMs: null,
});

/**
 * @param {CallItem} call
 * @returns {boolean}
 */
const isOver = ({ status }) => status === 'done' || status === 'failed' || status === 'rejected';

/**
 * @param {OutputData} data
 * @returns {Pick<CallItem, 'result' | 'isCut' | 'durationMs'>}
 */
const resultOf = (data) => ({
  result: data.content.map(({ type, text }) => (typeof text === 'string' ? text : `[${type}]`)).join('\n'),
  isCut: 'truncated' in data,
  durationMs: data.durationMs,
});

/**
 * A provider's call ids are unique within a turn only: the newest call of that id is meant.
 * @param {Items} items
 * @param {string} callId
 * @returns {CallItem | undefined}
 */
const findCall = (items, callId) => {
  const found = items.findLast((item) => item.kind === 'call' && item.callId === callId);
  return found?.kind === 'call' ? found : undefined;
};

/**
 * @param {Items} items
 * @param {string} callId
 * @param {(call: CallItem) => CallItem} change
 * @returns {Items} the same list when nothing changed
 */
const changeCall = (items, callId, change) => {
  const call = findCall(items, callId);
  if (call === undefined) return items;
  const changed = change(call);
  return changed === call ? items : items.map((item) => (item === call ? changed : item));
};
