/**
 * The requests this page makes besides its socket, each as one function that answers with a value.
 *
 * A server that is not there, a token that is not good and a thing that is gone are answers, not exceptions:
 * the connection decides what they mean.
 * @import { EventPage } from './event-feed.js'
 * @import { Frame } from './protocol.js'
 */

const requestTimeoutMs = 15_000;
const eventsPerPageMax = 500;

/**
 * @typedef {{ readonly status: number, readonly body: Record<string, unknown> }} Answer
 *   status 0: there was no answer
 */

/**
 * @param {string} token
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<Answer>}
 */
const ask = async (token, path, body) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const options = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
  try {
    const response = await fetch(path, { ...options, signal: AbortSignal.timeout(requestTimeoutMs) });
    return { status: response.status, body: await response.json().catch(() => ({})) };
  } catch {
    return { status: 0, body: {} };
  }
};

/**
 * @param {Answer} answer
 * @returns {string}
 */
export const messageOf = ({ status, body }) => {
  const { error } = /** @type {{ readonly error?: { readonly message?: string } }} */ (body);
  return error?.message ?? `the server answered ${status}`;
};

/**
 * A ticket opens one socket, once, within a minute.
 * @param {string} token
 * @returns {Promise<Answer & { readonly ticket: string }>}
 */
export const takeTicket = async (token) => {
  const answer = await ask(token, '/api/tickets', {});
  return { ...answer, ticket: String(answer.body['ticket'] ?? '') };
};

/**
 * @param {string} token
 * @param {string} sessionId
 * @returns {Promise<Answer>}
 */
export const findSession = (token, sessionId) => ask(token, `/api/sessions/${sessionId}`);

/**
 * The way for a text that is too long for a frame of the socket.
 * @param {string} token
 * @param {string} sessionId
 * @param {{ readonly text: string, readonly messageId: string }} message
 * @returns {Promise<Answer>}
 */
export const postMessage = (token, sessionId, { text, messageId }) =>
  ask(token, `/api/sessions/${sessionId}/messages`, { text, messageId });

/**
 * @typedef {{
 *   readonly events?: readonly (Frame & { readonly index: number })[],
 *   readonly error?: { readonly oldestIndex?: number },
 * }} EventsBody
 */

/**
 * The events after a number, and the oldest number that is still kept.
 * @param {string} token
 * @param {string} sessionId
 * @param {number} since
 * @returns {Promise<EventPage>}
 */
export const fetchEvents = async (token, sessionId, since) => {
  const query = new URLSearchParams({ since_index: String(since), max_events: String(eventsPerPageMax) });
  const { status, body } = await ask(token, `/api/sessions/${sessionId}/events?${query}`);
  const { events = [], error } = /** @type {EventsBody} */ (body);
  const frames = events.map(({ index, ...event }) => ({ ...event, seq: index }));
  const oldestSeq = error?.oldestIndex ?? frames[0]?.seq ?? null;
  return { isAnswered: status === 200 || oldestSeq !== null, frames, oldestSeq };
};
