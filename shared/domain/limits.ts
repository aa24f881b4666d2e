/**
 * The limits that hold everywhere, each named with its unit. Those that an operator may change are in
 * shared/config.
 */

/** A user message that comes by WebSocket is bounded by the gateway (128 KB); by REST it may be this long. */
export const messageTextBytesMax = 1_048_576;
/** Bytes of a REST request body. */
export const requestBodyBytesMax = 4 * 1_048_576;
/** Accepted and not yet completed messages of one connection. */
export const openMessagesPerConnectionMax = 5;
/** Messages of one session that wait behind the one in progress. */
export const waitingMessagesMax = 100;
/** Bytes of the texts of its messages that are not completed. */
export const waitingBytesMax = 16 * 1024 * 1024;
/** Events stored per session; older ones are purged. */
export const eventsPerSessionMax = 1000;
/** Bytes of one event as a socket frame carries it (API Gateway cuts a frame over 32 KB). */
export const frameBytesMax = 30 * 1024;
/** Bytes of one event as the log stores it; the longest text of a larger one is cut and marked. */
export const eventBytesMax = 256 * 1024;
/** Bytes of all events in one answer of `/events`. */
export const eventPageBytesMax = 4 * 1_048_576;
/** Characters of one tool result as the model sees it. */
export const toolResultCharactersMax = 50_000;
/** Tool calls one model answer may ask for. */
export const callsPerAnswerMax = 32;
/** For the answer of a client whose tool was called. */
export const callerAnswerMs = 60_000;
/** Bytes of text one model answer may have. */
export const answerTextBytesMax = 300 * 1024;
/** Bytes of reasoning of one model answer that are shown and kept; the rest is left out, and the answer goes on. */
export const answerReasoningBytesMax = 64 * 1024;
/** Bytes of tool arguments one model answer may have: with what else a step writes, one transaction takes it (4 MB). */
export const answerArgumentsBytesMax = 1.5 * 1_048_576;
/** Bytes of the arguments, as JSON, that a person puts in place of a call's own. */
export const editedBytesMax = 1.25 * 1_048_576;
/** Bytes of the arguments of one answer's calls as the history stores them for the model that wrote them. */
export const historyArgumentsBytesMax = 200 * 1024;
/** The time for which deltas are collected before they are sent, in milliseconds. */
export const deltaBatchMs = 50;
/** Bytes of frames that an asynchronous invocation carries (Lambda takes 256 KB). */
export const carriedFrameBytesMax = 128 * 1024;
/**
 * Milliseconds for which a publisher keeps a list of subscribers. A turn's monitor reads it more often. So long a connection to a
 * session that runs waits for frames of others.
 */
export const subscriberRefreshMs = 1000;
/** The clocks of two functions are at most so far apart, in milliseconds; Lambda keeps them much closer. */
export const clocksApartMsMax = 4000;
/** The longest `$connect`: the gateway gives it 29 s, and clocks differ. */
export const connectMsMax = 60_000;
/** The number of times that one piece of work is handed from function to function before it is left to the janitor. */
export const turnHopsMax = 200;
/** Bytes of one tool result in the log: its event, with its names, has `eventBytesMax`. A longer one is stored as a file. */
export const resultBytesMax = 250 * 1024;
/** The age at which the janitor drives an accepted message whose invocation was lost, in milliseconds. */
export const redriveAfterMs = 15_000;
/** The time after which a session with a detached call is due again, in milliseconds. */
export const detachedLookMs = 15_000;
/** The time after its timeout by which the sandbox has ended a call, in milliseconds. */
export const callEndMarginMs = 60_000;
/**
 * A turn is ended after this many of the janitor's tries without a step, and not before this time, in milliseconds: if no
 * function took its lease since the first try, it cannot start; else functions start and die.
 */
export const startTriesMax = 3;
export const stepTriesMax = 10;
export const stallMsMin = 120_000;
/** The age at which a `starting` sandbox without a task is requested again, in milliseconds. */
export const startReissueMs = 5000;
/** The age at which ECS is asked about a task without a recorded address, in milliseconds: its state event is late or lost. */
export const addressLateMs = 5000;
/** The interval at which a caller that waits for such a task asks ECS, in milliseconds. */
export const locateEveryMs = 5000;
/** A sandbox that is not ready after this long has failed to start, in milliseconds. */
export const sandboxStartMsMax = 180_000;
/** The time that one request waits for a starting sandbox, in milliseconds. */
export const sandboxWaitMsMax = 120_000;
/**
 * The longest silence of an answer, in milliseconds: proxies of the deployment end an answer after a minute without a byte.
 */
export const answerSilenceMsMax = 45_000;
/** The time after which a stop that ECS has not confirmed is requested again, in milliseconds. */
export const stopRetryMs = 30_000;
/**
 * The time that a session which only a connection created outlives its last connection, in milliseconds, so that
 * a client can reconnect.
 */
export const unusedSessionMs = 60_000;
/** Frames one connection may send per second, and in one burst after silence. */
export const framesPerSecondMax = 50;
export const frameBurstMax = 200;
/**
 * Frames of one connection that a function lets through without the shared bucket: in one burst, and one more in
 * each interval, in milliseconds.
 */
export const ownFramesMax = 3;
export const ownFrameMs = 1000;
/** The interval at which a connection that sends too many frames is told so, in milliseconds. */
export const frameRefusalMs = 1000;
/** A ticket for a WebSocket, in seconds. */
export const ticketSecondsMax = 60;
/** Default timeout of an agent's own tool, in seconds. */
export const toolTimeoutSeconds = 30;
/** The longest lifetime of an access token that expires, in seconds. */
export const tokenSecondsMax = 10 * 365 * 86_400;
/** Items on one page of a listing. */
export const pageItemsMax = 100;
/** Characters of a name or id that a client may choose. */
export const clientIdCharactersMax = 128;
/** Characters of the name of a model that a client asks for. */
export const modelNameCharactersMax = 256;
/** Labels of one session, and characters of a label's value. */
export const sessionLabelsMax = 16;
export const labelValueCharactersMax = 256;
/** Environment variables of a session's sandbox, and the bytes of their names and values. */
export const sessionVariablesMax = 64;
export const sessionVariablesBytesMax = 32 * 1024;
/** Characters of a title that a client gives a session. */
export const sessionTitleCharactersMax = 200;
/** The idle limit and the lifetime of a sandbox that a client may choose for a session, in seconds. */
export const idleSecondsMax = 86_400;
export const lifetimeSecondsMin = 1;
export const lifetimeSecondsMax = 28_800;
/** Characters of the external id and the source that a client gives a workspace, each. */
export const workspaceNoteCharactersMax = 256;
/** Characters of a project's description. */
export const projectDescriptionCharactersMax = 2000;
/**
 * Characters of a call's id, as clients name it, and of one that a provider makes: a longer one is replaced, and one that repeats gets
 * a number behind it.
 */
export const callIdCharactersMax = 256;
export const providerCallIdCharactersMax = callIdCharactersMax - 8;
/** Characters of the name of a tool that a model asks for; no tool has a longer one. */
export const toolNameCharactersMax = 256;
/** Bytes of a waiting call's arguments in the list of all waiting calls. */
export const listedArgumentsBytesMax = 4096;
/** Waiting calls in one answer: each is read with its turn. */
export const approvalsPageItemsMax = 50;
/** Characters of a person's reason for rejecting a call. */
export const reasonCharactersMax = 2000;
/** The age of ended sessions that a clean-up may name, in hours. */
export const cleanupHoursMax = 24 * 365;
/** The time without a new pin after which the pins of a workspace are known, in milliseconds: a transaction is over by then. */
export const pinsQuietMs = 15_000;
/**
 * The time for which a save may still write after its workspace was deleted, in milliseconds: that of the function which
 * had read the record before, and that of the link which it then invoked.
 */
export const lateSaveMsMax = 1_860_000;
/** Characters of a running call's output that are kept, the newest. */
export const printedCharactersMax = 10_000;
/** The time from a running call's first output until it is stored, and between two writes of it, in milliseconds. */
export const printedFirstMs = 1000;
export const printedKeptMs = 10_000;
/** Sessions of a workspace that the transaction of a restore checks; with more, the sandbox is marked first. */
export const restoreCheckUsersMax = 48;
/** Characters of the name of a snapshot. */
export const snapshotNameCharactersMax = 128;
/** The longest wait of a request for a slot, in seconds. */
export const slotWaitSecondsMax = 60;
/** The shortest interval between two writes of a session's heartbeat, in milliseconds. */
export const heartbeatMs = 5000;
/** The longest interval between two heartbeats while something runs in a session, in milliseconds. */
export const heartbeatMsMax = 60_000;
/** The number of starts that ECS may refuse for capacity before the start fails, or a smaller size is tried. */
export const capacityTriesMax = 4;
/** The longest time for which a restore excludes others, in milliseconds. */
export const restoreMsMax = 150_000;
/** The time after its last renewal for which a claimed restore excludes others, in milliseconds: well below `sandboxWaitMsMax`. */
export const restoreHoldMs = 30_000;
/** The interval at which a restore that runs renews its claim, in milliseconds. */
export const restoreRenewMs = 10_000;
/** The time for which a claimed last save excludes others, in milliseconds: as long as a janitor may run. */
export const lastSaveMsMax = 300_000;
/** The interval at which one whose time a slice pays for is looked at, in milliseconds: with each sweep, which comes every minute. */
export const sandboxMeterLookMs = 30_000;
/** The interval at which a live sandbox is checked, in milliseconds. */
export const sandboxLookMs = 3_600_000;
/** The longest duration of one save, in milliseconds: a longer one counts as failed. */
export const saveMsMax = 150_000;
/** The time for which a sandbox that stopped responding during a call is asked again, in milliseconds. */
export const toolSilenceMsMax = 90_000;
/** Sessions of one workspace that one transaction can check for activity, beside the workspace, its slot and its counter. */
export const idleCheckUsersMax = 97;
/** The time that a request of a caller which found a sandbox ready may take to reach it, in milliseconds. */
export const underWayMs = 1000;
/** A counter of slots is corrected when it has differed from them for so long without a change, in milliseconds. */
export const miscountMsMin = 60_000;
/** The time for which a sweep takes up what is due, in milliseconds: the next one begins a minute after it. */
export const sweepMsMax = 45_000;
/** The time for which an audit of slots takes up holders, in milliseconds: the next one begins five minutes after it. */
export const auditMsMax = 240_000;
/** The number of attempts at a last save before the sandbox is stopped without it. */
export const lastSaveTriesMax = 3;
/** A ready sandbox that was seen so recently is used without a check, in milliseconds. */
export const sandboxTrustMs = 5000;
/** A younger task is no orphan, in milliseconds: its record may not be written yet. */
export const orphanAgeMs = 120_000;
/** A task younger than this may be missing from ECS's list, in milliseconds. */
export const taskUnseenMsMax = 30_000;
/** Ports of a sandbox that can be leased for preview: the first, and their number. */
export const previewPortFirst = 8000;
export const previewPortCount = 1000;
/** The longest lifetime of a link to a file, in seconds. */
export const linkSecondsMax = 86_400;
/** The lifetime of a browser's access to one preview port, in seconds. */
export const previewSecondsMax = 3600;
/** The retention of a sandbox's log lines in the table, in seconds. */
export const sandboxLogSecondsMax = 86_400;
/** Lines in one answer of `/logs`. */
export const logLinesMax = 2000;
/** The interval at which the slot count is compared with the slots taken, after a change, in milliseconds. */
export const slotAuditMs = 300_000;
/** Characters of each output stream that a client of `/mcp` is shown unless it asks for another number. */
export const outputCharactersShown = 30_000;
/** Characters of a result of `/mcp` that its text repeats whole, for clients that read the structured fields as well. */
export const repeatedCharactersMax = 131_072;
/** The time that a call of `/mcp` leaves before its function's end for its answer and the save, in milliseconds. */
export const answerMarginMs = 90_000;
/** The longest timeout that may be requested for one execution, in seconds. */
export const executionSecondsMax = 3600;

/** The longest timeout of a program run over REST, in seconds. */
export const execSecondsMax = 3600;
/** The time that a stream of output lasts at most, in milliseconds: less than a function may run. */
export const outputStreamMsMax = 880_000;
/** The time for which the link follows the output of a process before it is asked anew, in milliseconds. */
export const outputSliceMs = 20_000;
/** The interval at which an idle sandbox is asked for processes that keep it, in milliseconds. */
export const processLookMs = 300_000;
/** The time that a sandbox which was started for a process waits for its begin, in milliseconds. */
export const firstProcessMs = 30_000;
/** The retention of the record of a process, in seconds. */
export const processRecordSecondsMax = 7 * 86_400;
/** The longest lifetime of a sandbox in which processes run, and so of a process, in seconds. */
export const processSecondsMax = 28_800;
/** The time that a request waits for the end of a program, the start of its sandbox included, in milliseconds. */
export const processWaitMsMax = 45_000;
/** Environment variables of one program, and the bytes of their names and values. */
export const processVariablesMax = 64;
export const processVariablesBytesMax = 32 * 1024;
/** Characters of a process's command in a listing, and of its working folder. */
export const processCommandCharactersMax = 4096;
/** Columns and rows of a terminal, each. */
export const terminalCellsMax = 1000;
/** Processes whose output one connection receives at once: each is two functions that run. */
export const terminalsPerConnectionMax = 16;
/** Bytes of input to processes that one connection may send per second. */
export const inputBytesPerSecondMax = 64 * 1024;
/** The time that a frame without a number waits for frames that were received before it, in milliseconds. */
export const arrivalOrderMs = 150;
/** The time for which a follower of a terminal may stay silent before another one takes its place, in milliseconds. */
export const followerLeaseMs = 60_000;
/** The time before its function's end at which a follower hands over, in milliseconds: more than a slice. */
export const followerMarginMs = 45_000;

/** The longest duration of a call to a registered MCP server on the network, in milliseconds. */
export const remoteCallMsMax = 330_000;
/** Bytes of the instructions of a project, of a named agent, and of a session. */
export const instructionsBytesMax = 32 * 1024;
/** Bytes of all instructions and agents of a project, which is one item. */
export const projectInstructionsBytesMax = 256 * 1024;
/** Named agents of a project. */
export const projectAgentsMax = 50;
/** Tools that a project or a session may turn off by name. */
export const toolNamesMax = 200;
/** Pages of projects, workspaces or sessions read for one listing that filters: the caller continues with `next`. */
export const listingPagesMax = 10;
/** Characters of a turn's request and answer in a summary of turns. */
export const turnTextCharactersMax = 200;
/**
 * The time that the deletion of a workspace waits for its sandbox to stop before it is tried again, in milliseconds. The sweep finishes
 * what is left of a deletion that is older.
 */
export const deletionWaitMsMax = 90_000;
/** The time for which the table remembers a deleted project, in seconds: a concurrent maker of a session in it checks. */
export const deletedProjectSecondsMax = 86_400;
/** The time after which code that a request waits for is interrupted, in milliseconds: less than a function may run. */
export const codeAnswerMsMax = 840_000;
/** The time that one request waits for the end of a turn, in milliseconds: less than a function may run. */
export const completionWaitMsMax = 840_000;
/** The shortest interval at which a log is read while a caller waits for it, in milliseconds. */
export const logLookMsMin = 500;
export const logLookMsMax = 2000;
/** Secrets one project may have. */
export const projectSecretsMax = 50;
/** Bytes of one secret's value. */
export const secretValueBytesMax = 8192;
/** Bytes of all secrets of a project as JSON; Secrets Manager takes 65,536. */
export const projectSecretsBytesMax = 60_000;

/** The time after which a trial that runs is looked at: its function may have died, and its turn have been cancelled. */
export const trialWatchMs = 60_000;
/** The time after which the files of an old trial are looked at again, while its call can still be decided. */
export const trialLookMs = 3_600_000;
