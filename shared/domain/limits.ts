/**
 * Everything has a limit, named with its unit. What an operator may change is in shared/config; what is
 * here holds everywhere.
 */

/** A user message that comes by WebSocket is bounded by the gateway (128 KB); by REST it may be this long. */
export const messageTextBytesMax = 1_048_576;
/** A REST request body. */
export const requestBodyBytesMax = 4 * 1_048_576;
/** Accepted and not yet completed messages of one connection. */
export const openMessagesPerConnectionMax = 5;
/** Events kept per session; older ones are purged. */
export const eventsPerSessionMax = 1000;
/** Bytes of one event as a socket frame carries it (API Gateway cuts a frame over 32 KB). */
export const frameBytesMax = 30 * 1024;
/** Bytes of all events in one answer of `/events`. */
export const eventPageBytesMax = 4 * 1_048_576;
/** Characters of one tool result as the model sees it. */
export const toolResultCharactersMax = 50_000;
/** Tool calls one model answer may ask for. */
export const callsPerAnswerMax = 32;
/** Bytes of text and tool arguments one model answer may have: it is stored in one item (400 KB). */
export const answerBytesMax = 300 * 1024;
/** How long deltas gather before they are sent, in milliseconds. */
export const deltaBatchMs = 50;
/** How often the list of watching connections is read again while a turn streams, in milliseconds. */
export const watcherRefreshMs = 2000;
/** The lease of a turn: held this long, renewed three times within it, in milliseconds. */
export const turnLeaseMs = 30_000;
/** An accepted message whose wake-up call was lost is found by the janitor after this long, in milliseconds. */
export const redriveAfterMs = 15_000;
/** A `starting` sandbox without a task is asked for again after this long, in milliseconds. */
export const startReissueMs = 5000;
/** A sandbox that is not ready by then has failed to start, in milliseconds. */
export const sandboxStartMsMax = 180_000;
/** How long one request waits for a sandbox that starts, in milliseconds. */
export const sandboxWaitMsMax = 120_000;
/** A stop that ECS has not confirmed is asked for again after this long, in milliseconds. */
export const stopRetryMs = 30_000;
/** A ticket for a WebSocket, in seconds. */
export const ticketSecondsMax = 60;
/** Default timeout of an agent's own tool, in seconds. */
export const toolTimeoutSeconds = 30;
/** Items one page of a listing holds. */
export const pageItemsMax = 100;
/** Length of names and ids a client may choose, in characters. */
export const clientIdCharactersMax = 128;
