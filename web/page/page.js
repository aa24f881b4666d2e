/**
 * The page around the conversation: who answers, how the connection is, what can be done now.
 *
 * It is drawn from the state alone, and tells its owner what a person does; it decides nothing.
 * @import { Decide } from './call-card.js'
 * @import { Link, Session, ViewState } from '../view-state.js'
 */
import { conversation } from './conversation.js';
import { element, part } from './element.js';
import { examplesFor } from './examples.js';

/**
 * @typedef {{
 *   readonly ask: (text: string) => void,
 *   readonly decide: Decide,
 *   readonly leaveSession: () => void,
 *   readonly signIn: (token: string) => void,
 *   readonly tryNow: () => void,
 * }} Actions
 */

/** @type {Readonly<Record<Link['kind'], string>>} */
const linkWords = {
  'signed-out': 'Signed out',
  connecting: 'Connecting',
  connected: 'Connected',
  reconnecting: 'Reconnecting',
  offline: 'Offline, still trying',
  stopped: 'Not connected',
};

/** In a preview of an example, the marks around code are noise. */
const fence = /^```\w*\n?/gm;

const endedStatuses = new Set(['completed', 'failed']);

/**
 * @param {Actions} actions
 * @returns {(state: ViewState) => void}
 */
export const openPage = (actions) => {
  const drawItems = conversation(part('conversation', HTMLOListElement), actions.decide);
  listen(actions);
  return (state) => {
    drawBar(state);
    drawSignIn(state.link);
    drawWelcome(state, actions.ask);
    drawBanner(state, actions);
    drawItems(state.items);
    drawComposer(state);
  };
};

/** @param {Actions} actions */
const listen = ({ ask, leaveSession, signIn, tryNow }) => {
  const message = part('message', HTMLTextAreaElement);
  const composer = part('composer', HTMLFormElement);
  composer.addEventListener('submit', (event) => {
    event.preventDefault();
    if (message.value.trim() === '') return;
    ask(message.value);
    message.value = '';
  });
  message.addEventListener('keydown', (event) => {
    // While an input method composes a character, Enter belongs to it.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    composer.requestSubmit();
  });
  const token = part('token', HTMLInputElement);
  part('sign-in', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    signIn(token.value.trim());
    token.value = '';
  });
  part('new-session', HTMLButtonElement).addEventListener('click', () => {
    leaveSession();
    message.focus();
  });
  part('try-now', HTMLButtonElement).addEventListener('click', tryNow);
};

/** @param {ViewState} state */
const drawBar = ({ link, session }) => {
  const words = part('link', HTMLParagraphElement);
  if (words.textContent !== linkWords[link.kind]) words.textContent = linkWords[link.kind];
  words.dataset['link'] = link.kind;
  const model = part('model', HTMLParagraphElement);
  const text = session === null ? '' : modelWords(session);
  if (model.textContent !== text) model.textContent = text;
  part('try-now', HTMLButtonElement).hidden = link.kind !== 'offline';
  part('new-session', HTMLButtonElement).hidden = link.kind === 'signed-out';
};

/**
 * @param {Session} session
 * @returns {string}
 */
const modelWords = ({ provider, model }) =>
  provider === 'demo' ? 'Demo: no language model' : `${provider} · ${model}`;

/** @param {Link} link */
const drawSignIn = (link) => {
  const form = part('sign-in', HTMLFormElement);
  const wasHidden = form.hidden;
  form.hidden = link.kind !== 'signed-out';
  if (link.kind !== 'signed-out' || !wasHidden) return;
  part('sign-in-why', HTMLParagraphElement).textContent = link.isRefused
    ? 'The server does not accept this token, or no longer does.'
    : 'This link has no token in it.';
  part('token', HTMLInputElement).focus();
};

/**
 * @param {ViewState} state
 * @param {(text: string) => void} ask
 */
const drawWelcome = ({ link, session, items }, ask) => {
  const welcome = part('welcome', HTMLElement);
  welcome.hidden = session === null || items.length > 0 || link.kind === 'signed-out';
  if (welcome.hidden || welcome.dataset['provider'] === session?.provider) return;
  const provider = session?.provider ?? '';
  welcome.dataset['provider'] = provider;
  part('welcome-text', HTMLParagraphElement).textContent =
    provider === 'demo'
      ? 'The demo provider is no language model. It runs lines that begin with $ and fenced code, in an isolated sandbox, after you approve each call.'
      : 'Its tools run in an isolated sandbox, and you approve each call.';
  const examples = examplesFor(provider).map(({ title, text }) => {
    const button = element(
      'button',
      { type: 'button' },
      element('strong', {}, title),
      element('code', {}, text.replaceAll(fence, '')),
    );
    button.addEventListener('click', () => {
      ask(text);
      part('message', HTMLTextAreaElement).focus();
    });
    return element('li', {}, button);
  });
  part('examples', HTMLUListElement).replaceChildren(...examples);
};

/**
 * @param {ViewState} state
 * @param {Actions} actions
 */
const drawBanner = ({ link, session }, { tryNow, leaveSession }) => {
  const banner = part('banner', HTMLDivElement);
  const isEnded = session !== null && endedStatuses.has(session.status);
  const text = link.kind === 'stopped' ? link.reason : isEnded ? 'This session has ended.' : '';
  banner.hidden = text === '';
  if (banner.dataset['text'] === text) return;
  banner.dataset['text'] = text;
  const [label, act] = link.kind === 'stopped' ? ['Try again', tryNow] : ['Start another', leaveSession];
  const button = element('button', { type: 'button', class: 'quiet' }, label);
  button.addEventListener('click', act);
  banner.replaceChildren(element('span', {}, text), button);
};

/** @param {ViewState} state */
const drawComposer = ({ link, session, items, openQuestions }) => {
  const isEnded = session !== null && endedStatuses.has(session.status);
  part('composer', HTMLFormElement).hidden = link.kind === 'signed-out' || link.kind === 'stopped' || isEnded;
  const isWaiting = items.some(
    (item) => item.kind === 'call' && item.status === 'waiting' && item.decision === null,
  );
  part('working', HTMLParagraphElement).hidden = openQuestions === 0 || isWaiting || isEnded;
};
