/**
 * Proof that the other end is still there: a ping now and then, and what to do when no answer comes.
 *
 * A socket that died silently stays open for minutes; any frame counts as an answer.
 */

/** A gateway closes a connection that was silent for 10 minutes. */
const pingEveryMs = 4 * 60_000;
const pongTimeoutMs = 10_000;

/**
 * @typedef {{ readonly check: () => void, readonly heard: () => void, readonly stop: () => void }} Heartbeat
 */

/**
 * @param {{ readonly ping: () => void, readonly onSilence: () => void }} options
 * @returns {Heartbeat}
 */
export const startHeartbeat = ({ ping, onSilence }) => {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let deadline;
  const heard = () => clearTimeout(deadline);
  const check = () => {
    ping();
    clearTimeout(deadline);
    deadline = setTimeout(onSilence, pongTimeoutMs);
  };
  const timer = setInterval(check, pingEveryMs);
  const stop = () => {
    clearInterval(timer);
    clearTimeout(deadline);
  };
  return { check, heard, stop };
};
