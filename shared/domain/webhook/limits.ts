/** The limits of webhooks and their deliveries. The table is in docs/spec/webhooks.md. */

/** Webhooks of one deployment, of one project, and of those that cover every project. */
export const webhooksMax = 100;
export const webhooksPerProjectMax = 10;
export const webhookUrlCharactersMax = 2048;
/** Characters of a title, and of a tool's name, in a body. */
export const webhookTextCharactersMax = 256;

/** The longest pause between two attempts, in milliseconds; the first is a setting (`WEBHOOK_RETRY_SECONDS`). */
export const retryMsMax = 3_600_000;
/** The age at which a delivery that was not accepted is given up, in milliseconds. */
export const retryForMs = 86_400_000;
/** The longest duration of one attempt, from the name's resolution to the end of the answer, in milliseconds. */
export const attemptMsMax = 10_000;
/** Bytes of an answer that are read; none of them is stored. */
export const answerBytesMax = 65_536;

/** Concurrent attempts to one webhook. */
export const attemptsAtOnceMax = 8;
/** Deliveries that wait for one webhook: with more of them it is disabled. */
export const deliveriesWaitingMax = 10_000;
/** The retention of a delivery, in milliseconds: an accepted one for listings, a waiting one to be sent. */
export const deliveryKeptMs = 7 * 86_400_000;
/** Rows of deliveries in one answer: the maximum, and the default. */
export const deliveryRowsMax = 100;
export const deliveryRowsDefault = 20;

/** The silence after which a sender is replaced, in milliseconds: longer than a round of attempts. */
export const senderLeaseMs = 30_000;
/** The interval at which a sender that waits for a retry checks for new deliveries, in milliseconds. */
export const senderLookMs = 2000;
/** A retry that is further away is left to the sweep, in milliseconds. */
export const senderWaitMsMax = 60_000;
/** The time in which one invocation begins attempts, in milliseconds: the next one does the rest. */
export const senderRunMs = 150_000;
/** The age at which the sweep takes up a notice that was not sent on, in milliseconds. */
export const noticeGraceMs = 15_000;
/** Sessions that receive the events of one sandbox. */
export const sessionsToldMax = 20;
/** Notices and webhooks that a sweep reads at once. */
export const sweptMax = 200;
