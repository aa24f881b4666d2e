/**
 * Proof that the other end is still there: a ping now and then, and what to do when no answer comes.
 *
 * A socket that died silently stays open for minutes; any frame counts as an answer.
 */

/** A gateway closes a connection that was silent for 10 minutes. */
const pingEveryMs = 4 * 60_000;
const pongTimeoutMs = 10_000;

export type Heartbeat = {
  readonly check: () => void;
  readonly heard: () => void;
  readonly stop: () => void;
};

export const startHeartbeat = ({
  ping,
  onSilence,
}: {
  readonly ping: () => void;
  readonly onSilence: () => void;
}): Heartbeat => {
  let deadline: ReturnType<typeof setTimeout> | undefined;
  const check = (): void => {
    ping();
    clearTimeout(deadline);
    deadline = setTimeout(onSilence, pongTimeoutMs);
  };
  const timer = setInterval(check, pingEveryMs);
  return {
    check,
    heard: () => clearTimeout(deadline),
    stop: () => {
      clearInterval(timer);
      clearTimeout(deadline);
    },
  };
};
