/**
 * The sign of a sandbox that a program of its own waits for the relay and nothing holds it. No connection leads out of a sandbox: the
 * sign is in the answers to requests that the platform has open, whose callers then have the relay held.
 */

/** The message of a progress notification of a call. */
export const relayWantedMessage = '{"relay":"wanted"}';

/** A comment in a stream of server-sent events. */
export const relayWantedComment = ':relay wanted\n\n';

/** The field of the answer to a wait that ended early for it. */
export const relayWantedField = 'relayWanted';

/** The stream as it is; its comments that the relay is wanted are reported. */
export const watchRelayWanted = (onWanted: () => void): TransformStream<Uint8Array, Uint8Array> => {
  const decoder = new TextDecoder('latin1');
  let last = '';
  return new TransformStream({
    transform(chunk, controller) {
      const text = last + decoder.decode(chunk);
      if (text.includes(`\n${relayWantedComment}`) || text === relayWantedComment) onWanted();
      last = text.slice(-relayWantedComment.length);
      controller.enqueue(chunk);
    },
  });
};
