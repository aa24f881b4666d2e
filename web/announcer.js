/**
 * Tells who does not see the page what has just become worth knowing: a decision to make, an answer, an error.
 *
 * Deltas are not read out; the whole answer is, once. What a replay brings is old and stays silent.
 * @import { Item, ViewState } from './view-state.js'
 */
import { summarizeCall } from './call-summary.js';
import { part } from './element.js';

/** @type {Item | undefined} */
let announced;

/** @param {ViewState} state */
export const announce = ({ items, link }) => {
  const item = items.findLast((candidate) => wordsOf(candidate) !== '');
  if (item === undefined || item === announced) return;
  announced = item;
  if (link.kind === 'connected') part('announcer', HTMLParagraphElement).textContent = wordsOf(item);
};

/**
 * @param {Item} item
 * @returns {string}
 */
const wordsOf = (item) => {
  if (item.kind === 'answer' && item.stream === null) return item.text;
  if (item.kind === 'failure') return item.message;
  if (item.kind !== 'call' || item.status !== 'waiting' || item.decision !== null) return '';
  const place = item.place === null ? '' : `, ${item.place.position} of ${item.place.total}`;
  return `Your decision${place}: ${summarizeCall(item.name, item.args).title}`;
};
