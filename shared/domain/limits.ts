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
/** Accepted and not yet completed messages of one session, and the bytes of their texts. */
export const waitingMessagesMax = 100;
export const waitingBytesMax = 16 * 1024 * 1024;
/** Events kept per session; older ones are purged. */
export const eventsPerSessionMax = 1000;
/** Bytes of one event as a socket frame carries it (API Gateway cuts a frame over 32 KB). */
export const frameBytesMax = 30 * 1024;
/** Bytes of one event as the log keeps it; the longest text of a larger one is cut, and that is marked. */
export const eventBytesMax = 256 * 1024;
/** Bytes of all events in one answer of `/events`. */
export const eventPageBytesMax = 4 * 1_048_576;
/** Characters of one tool result as the model sees it. */
export const toolResultCharactersMax = 50_000;
/** Tool calls one model answer may ask for. */
export const callsPerAnswerMax = 32;
/** Bytes of text one model answer may have: it is stored in one item (400 KB). */
export const answerTextBytesMax = 300 * 1024;
/** Bytes of tool arguments one model answer may have: with what else a step writes, one transaction takes it (4 MB). */
export const answerArgumentsBytesMax = 1.5 * 1_048_576;
/** Bytes of the arguments, as JSON, that a person puts in place of a call's own. */
export const editedBytesMax = 1.25 * 1_048_576;
/** Bytes of the arguments of one answer's calls as the history keeps them for the model, which wrote them. */
export const historyArgumentsBytesMax = 200 * 1024;
/** The time that deltas gather before they are sent, in milliseconds. */
export const deltaBatchMs = 50;
/** The interval at which the list of watching connections is read again while a turn streams, in milliseconds. */
export const watcherRefreshMs = 2000;
/** The number of times that one piece of work is handed from function to function before the janitor has to drive it on. */
export const turnHopsMax = 200;
/** Bytes of one tool result in the log: its event, with its names, has `eventBytesMax`. The whole of a longer one is a file. */
export const resultBytesMax = 250 * 1024;
/** An accepted message whose wake-up call was lost is found by the janitor after this long, in milliseconds. */
export const redriveAfterMs = 15_000;
/** A `starting` sandbox without a task is asked for again after this long, in milliseconds. */
export const startReissueMs = 5000;
/** A task whose address nobody has noted is asked about after this long, in milliseconds: its state event is late or lost. */
export const addressLateMs = 5000;
/** Who waits for such a task asks ECS no more often than this, in milliseconds. */
export const locateEveryMs = 5000;
/** A sandbox that is not ready by then has failed to start, in milliseconds. */
export const sandboxStartMsMax = 180_000;
/** The time that one request waits for a sandbox that starts, in milliseconds. */
export const sandboxWaitMsMax = 120_000;
/** A stop that ECS has not confirmed is asked for again after this long, in milliseconds. */
export const stopRetryMs = 30_000;
/** A session that only a connection asked for outlives its last one by this long, in milliseconds, for a client that reconnects. */
export const unusedSessionMs = 60_000;
/** Frames one connection may send in a second, and at once after it was silent. */
export const framesPerSecondMax = 50;
export const frameBurstMax = 200;
/** Frames of one connection that a function lets through without the shared bucket: at once, and one more in each pause, in milliseconds. */
export const ownFramesMax = 3;
export const ownFrameMs = 1000;
/** A connection that sends too many frames is told so no more often than this, in milliseconds. */
export const frameRefusalMs = 1000;
/** A ticket for a WebSocket, in seconds. */
export const ticketSecondsMax = 60;
/** Default timeout of an agent's own tool, in seconds. */
export const toolTimeoutSeconds = 30;
/** The longest an access token with an expiry holds, in seconds. */
export const tokenSecondsMax = 10 * 365 * 86_400;
/** Items one page of a listing holds. */
export const pageItemsMax = 100;
/** Length of names and ids a client may choose, in characters. */
export const clientIdCharactersMax = 128;
/** Characters of a call's id, which a provider makes; a longer one is replaced by one of ours. */
export const callIdCharactersMax = 256;
/** Characters of the name of a tool that a model asks for; no tool has a longer one. */
export const toolNameCharactersMax = 256;
/** Bytes of a waiting call's arguments in the list of everything that waits. */
export const listedArgumentsBytesMax = 4096;
/** Waiting calls in one answer: each is read with its turn. */
export const approvalsPageItemsMax = 50;
/** Characters of why a person rejected a call. */
export const reasonCharactersMax = 2000;
/** The age of ended sessions that a clean-up may name, in hours. */
export const cleanupHoursMax = 24 * 365;
/** The seconds a request may wait for a slot. */
export const slotWaitSecondsMax = 60;
/** A found session's heartbeat is written at most this often, in milliseconds. */
export const heartbeatMs = 5000;
/** Capacity refused by ECS is asked for again this often before the start fails, or a smaller size is tried. */
export const capacityTriesMax = 4;
/** The time that a claimed restore holds others off, in milliseconds. */
export const restoreMsMax = 150_000;
/** The time that a claimed last save holds others off, in milliseconds: as long as a janitor may run. */
export const lastSaveMsMax = 300_000;
/** A live sandbox is looked at again after this long, in milliseconds. */
export const sandboxLookMs = 3_600_000;
/** What one save may take, in milliseconds: who waits for more of it counts as gone. */
export const saveMsMax = 150_000;
/** The time that a sandbox that fell silent under a call is asked again, in milliseconds. */
export const toolSilenceMsMax = 90_000;
/** A failed last save is tried this often before the sandbox is stopped without it. */
export const lastSaveTriesMax = 3;
/** A ready sandbox that showed itself so recently is used without asking it, in milliseconds. */
export const sandboxTrustMs = 5000;
/** A younger task is no orphan: its record may be on its way, in milliseconds. */
export const orphanAgeMs = 120_000;
/** ECS may not list a task yet that is younger, in milliseconds. */
export const taskUnseenMsMax = 30_000;
/** Ports of a sandbox that can be leased for preview: the first, and how many. */
export const previewPortFirst = 8000;
export const previewPortCount = 1000;
/** A browser's access to one preview port, in seconds. */
export const previewSecondsMax = 3600;
/** Lines of a sandbox that are kept, in the table, for this long, in seconds. */
export const sandboxLogSecondsMax = 86_400;
/** Lines in one answer of `/logs`. */
export const logLinesMax = 2000;
/** The interval at which the counted slots are compared with those taken, after a change, in milliseconds. */
export const slotAuditMs = 300_000;
/** Timeout of one execution, in seconds: what may be asked for. */
export const executionSecondsMax = 300;

/** A call to a registered MCP server on the network takes no longer, in milliseconds. */
export const remoteCallMsMax = 330_000;
/** Tools that a project or a session may turn off by name. */
export const toolNamesMax = 200;
/** Projects, workspaces and sessions read in one listing that filters: whoever wants more continues with `next`. */
export const listingPagesMax = 10;
/** Characters of a turn's request and answer where turns are shown in short. */
export const turnTextCharactersMax = 200;
/** The time that the deletion of a workspace waits for its sandbox to stop before it is tried again, in milliseconds. */
export const deletionWaitMsMax = 90_000;
/** The table remembers that a project was deleted for so long, in seconds: whoever made a session in it meanwhile looks. */
export const deletedProjectSecondsMax = 86_400;
/** The time that one request waits for the end of a turn, in milliseconds: less than a function may run. */
export const completionWaitMsMax = 840_000;
/** The interval at which a log is looked at while a caller waits for it, in milliseconds: often at first. */
export const logLookMsMin = 500;
export const logLookMsMax = 2000;
/** Secrets one project may have. */
export const projectSecretsMax = 50;
/** Bytes of one secret's value. */
export const secretValueBytesMax = 8192;
/** Bytes of all secrets of a project as JSON; Secrets Manager takes 65,536. */
export const projectSecretsBytesMax = 60_000;
