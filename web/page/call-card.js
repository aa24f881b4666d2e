/**
 * One tool call as a card: what it does, where it stands, what to decide, what came out.
 * @import { CallItem, Decision } from '../call-state.js'
 */

import { inSeconds } from '../view-state.js';
import { summarizeCall } from './call-summary.js';
import { element } from './element.js';

/** Escape sequences of terminals: colours and cursor movements, which this page has no use for. */
const escapeSequence = new RegExp(`${String.fromCharCode(27)}(?:\\[[0-?]*[ -/]*[@-~]|[@-Z\\\\-_])`, 'g');

/**
 * @typedef {(callId: string, decision: Decision) => void} Decide
 */

/**
 * @param {CallItem} call
 * @param {Decide} decide
 * @returns {HTMLElement}
 */
export const callCard = (call, decide) => {
  const { title, details } = summarizeCall(call.name, call.args);
  const card = element(
    'article',
    { class: 'card', 'data-status': call.status, 'aria-label': `Tool call: ${title}`, tabindex: '-1' },
    element(
      'header',
      {},
      element('h3', {}, title),
      element('code', { class: 'tool' }, call.name),
      element('span', { class: 'status' }, statusOf(call)),
    ),
    details === '' ? null : element('pre', { class: 'request', tabindex: '0' }, details),
    call.status === 'waiting' ? approval(call, decide) : null,
    output(call),
  );
  return card;
};

/**
 * @param {CallItem} call
 * @returns {string}
 */
const statusOf = ({ status, decision, durationMs }) => {
  switch (status) {
    case 'asked':
      return 'queued';
    case 'waiting':
      return decision === null ? 'waits for you' : decision === 'reject' ? 'rejecting' : 'approved';
    case 'done':
      return durationMs === null ? 'done' : `done in ${inSeconds(durationMs)}`;
    default:
      return status;
  }
};

/**
 * @param {CallItem} call
 * @param {Decide} decide
 * @returns {HTMLElement}
 */
const approval = ({ callId, place, decision }, decide) => {
  /** @type {(label: string, choice: Decision, look: string) => HTMLElement} */
  const button = (label, choice, look) => {
    const made = element('button', { type: 'button', class: look, disabled: decision !== null }, label);
    made.addEventListener('click', () => decide(callId, choice));
    return made;
  };
  return element(
    'div',
    { class: 'approval', role: 'group', 'aria-label': 'Your decision' },
    place === null ? null : element('span', { class: 'place' }, `${place.position} of ${place.total}`),
    button('Approve', 'approve', 'primary'),
    button('Reject', 'reject', 'quiet'),
    button('Always for this session', 'always', 'quiet'),
  );
};

/**
 * @param {CallItem} call
 * @returns {HTMLElement | null}
 */
const output = ({ status, live, result, isCut, name }) => {
  if (result !== null) {
    const text = result === '' ? `${name} gave no output` : plain(result);
    const kind = result === '' ? 'output empty' : 'output';
    return element('pre', { class: kind, tabindex: '0' }, text, isCut ? cutNote() : null);
  }
  if (live.chunks.length === 0) return null;
  const chunks = live.chunks.map(({ stream, text }) => element('span', { class: stream }, plain(text)));
  return element('pre', { class: 'output', tabindex: '0', 'data-live': status === 'running' }, ...chunks);
};

const cutNote = () => element('span', { class: 'cut' }, '\n[shortened here; the whole is in the log]');

/**
 * @param {string} text
 * @returns {string}
 */
const plain = (text) => text.replace(escapeSequence, '').replaceAll('\r\n', '\n');
