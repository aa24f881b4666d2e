/** The limits of webhooks and their deliveries. The table is in docs/spec/webhooks.md. */

/** Webhooks of one deployment, of one project, and of those that hear of every project. */
export const webhooksMax = 100;
export const webhooksPerProjectMax = 10;
export const webhookUrlCharactersMax = 2048;
/** Characters of a title, and of a tool's name, in a body. */
export const webhookTextCharactersMax = 256;

/** The longest pause between two attempts, in milliseconds; the first is a setting (`WEBHOOK_RETRY_SECONDS`). */
export const retryMsMax = 3_600_000;
/** A delivery that was not accepted for so long is given up, in milliseconds. */
export const retryForMs = 86_400_000;
/** One attempt, from the look-up of the name to the end of the answer, in milliseconds. */
export const attemptMsMax = 10_000;
/** Bytes that are read of an answer; none of them is stored. */
export const answerBytesMax = 65_536;

/** Attempts that are on their way to one webhook at once. */
export const attemptsAtOnceMax = 8;
/** Deliveries that wait for one webhook: with more of them it is disabled. */
export const deliveriesWaitingMax = 10_000;
/** The retention of a delivery, in milliseconds: accepted, to be listed; waiting, to be sent. */
export const deliveryKeptMs = 7 * 86_400_000;
/** Rows of deliveries in one answer: what may be asked for, and what comes when nothing is. */
export const deliveryRowsMax = 100;
export const deliveryRowsDefault = 20;

/** A sender that was silent for so long is replaced, in milliseconds: longer than a round of attempts. */
export const senderLeaseMs = 30_000;
/** A sender that waits for a retry looks this often for something new, in milliseconds. */
export const senderLookMs = 2000;
/** A retry that is further away is left to the sweep, in milliseconds. */
export const senderWaitMsMax = 60_000;
/** The time in which one invocation begins attempts, in milliseconds: the rest is the next one's. */
export const senderRunMs = 150_000;
/** A notice that was not sent on by then is found by the sweep, in milliseconds. */
export const noticeGraceMs = 15_000;
/** Sessions that are told of one sandbox. */
export const sessionsToldMax = 20;
/** Notices and webhooks that one sweep takes up. */
export const sweptMax = 200;
