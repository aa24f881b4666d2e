/**
 * Draws the items of the page, each once: an item that did not change keeps its element.
 *
 * The reader's place is kept: the page follows new text only while its end is in view, and a focus that sat
 * in a replaced element goes on to its successor.
 * @import { EndItem, Item, QuestionItem, ViewState } from '../view-state.js'
 * @import { Decide } from './call-card.js'
 */
import { callCard } from './call-card.js';
import { element } from './element.js';
import { blocksOf } from './text-blocks.js';

/**
 * @typedef {{ readonly item: Item, readonly node: HTMLElement }} DrawnItem
 * @typedef {Map<string, DrawnItem>} Drawn
 */

/**
 * @param {HTMLElement} list
 * @param {Decide} decide
 * @returns {(items: ViewState['items']) => void}
 */
export const conversation = (list, decide) => {
  /** @type {Drawn} */
  let drawn = new Map();
  return (items) => {
    const wasAtEnd = isAtEnd();
    const before = drawn;
    drawn = new Map(items.map((item) => [item.id, drawItem(item, before.get(item.id), decide)]));
    for (const [id, { node }] of before) if (!drawn.has(id)) node.remove();
    arrange(
      list,
      Array.from(drawn.values(), ({ node }) => node),
    );
    for (const live of list.querySelectorAll('[data-live]')) live.scrollTop = live.scrollHeight;
    if (wasAtEnd && items.length > 0) scrollTo({ top: document.documentElement.scrollHeight });
  };
};

/**
 * @param {Item} item
 * @param {DrawnItem | undefined} old
 * @param {Decide} decide
 * @returns {DrawnItem}
 */
const drawItem = (item, old, decide) => {
  if (old?.item === item) return old;
  // A half answer is not read out; the whole one is.
  const isBusy = item.kind === 'answer' && item.stream !== null;
  const node = element('li', { 'data-kind': item.kind, 'aria-busy': String(isBusy) }, nodeOf(item, decide));
  if (old !== undefined) succeed(old.node, node);
  return { item, node };
};

/** How far from the end a reader may be and still be taken along, in pixels. */
const endZonePx = 120;

const isAtEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - endZonePx;

/**
 * @param {HTMLElement} old
 * @param {HTMLElement} node
 */
const succeed = (old, node) => {
  const hadFocus = old.contains(document.activeElement);
  old.replaceWith(node);
  if (!hadFocus) return;
  const card = node.querySelector('article');
  card?.focus({ preventScroll: true });
};

/**
 * @param {HTMLElement} list
 * @param {readonly HTMLElement[]} nodes
 */
const arrange = (list, nodes) => {
  let next = list.firstElementChild;
  for (const node of nodes) {
    if (node === next) next = next.nextElementSibling;
    else list.insertBefore(node, next);
  }
};

/**
 * @param {Item} item
 * @param {Decide} decide
 * @returns {HTMLElement}
 */
const nodeOf = (item, decide) => {
  switch (item.kind) {
    case 'question':
      return question(item);
    case 'answer':
      return element('div', { class: 'answer' }, ...prose(item.text));
    case 'call':
      return callCard(item, decide);
    case 'note':
      return element('p', { class: 'note' }, item.text);
    case 'failure':
      return element(
        'p',
        { class: 'failure' },
        element('strong', {}, item.message),
        element('code', {}, item.code),
      );
    case 'end':
      return element('p', { class: 'end' }, endText(item));
  }
};

const deliveries = { sending: 'sending', accepted: null, refused: 'not sent' };

/**
 * @param {QuestionItem} item
 * @returns {HTMLElement}
 */
const question = ({ text, delivery }) => {
  const state = deliveries[delivery];
  const note = state === null ? null : element('small', {}, state);
  return element('div', { class: 'question', 'data-delivery': delivery }, ...prose(text), note);
};

/**
 * @param {string} text
 * @returns {readonly HTMLElement[]}
 */
const prose = (text) =>
  blocksOf(text).map((block) => {
    if (block.kind === 'code') return element('pre', { tabindex: '0' }, element('code', {}, block.text));
    const spans = block.spans.map(({ kind, text: part }) =>
      kind === 'text' ? part : element(kind, {}, part),
    );
    return element('p', {}, ...spans);
  });

/** @type {Readonly<Record<EndItem['stopReason'], string>>} */
const endings = {
  end_turn: 'Done',
  max_tokens: 'Stopped: the answer reached its longest length',
  cancelled: 'Cancelled',
  error: 'Stopped by an error',
  budget_exceeded: 'Stopped: the budget is used up',
  steps_exceeded: 'Stopped: too many steps',
  refused: 'The model declined',
};

/**
 * @param {EndItem} item
 * @returns {string}
 */
const endText = ({ stopReason, inputTokens, outputTokens }) => {
  const ending = endings[stopReason] ?? `Ended: ${stopReason}`;
  if (inputTokens + outputTokens === 0) return ending;
  return `${ending} · ${inputTokens.toLocaleString('en')} tokens in, ${outputTokens.toLocaleString('en')} out`;
};
