/** The limits of the model broker, each with its unit. */

/** One request of a program, in bytes. */
export const brokerBodyBytesMax = 8 * 1_048_576;
/** Calls of one sandbox that are open at once. */
export const brokerCallsMax = 8;
/** A request that is being sent counts as a call. */
export const tooManyBrokerCalls = {
  status: 429,
  message: `${brokerCallsMax} model calls of this sandbox are open already`,
};
/** One call, from its request to the end of its answer, in milliseconds. */
export const brokerCallMsMax = 840_000;
/** An answer that refuses, in bytes. */
export const brokerRefusalBytesMax = 65_536;
