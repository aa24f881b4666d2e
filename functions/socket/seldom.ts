/** The use cases of what few connections send or what none waits for: one chunk, which the first of them loads. */
export { closeConnection } from '#shared/application/connection/close-connection.ts';
export { resetHistory } from '#shared/application/session/reset-history.ts';
export { answerCall, declareTools } from '#shared/application/turn/requests/caller-tools.ts';
export { cancelTree } from '#shared/application/turn/requests/cancel-turn.ts';
export { checkAttachments } from '#shared/application/turn/requests/check-attachments.ts';
export { decideCall } from '#shared/application/turn/requests/decide-call.ts';
export { endSession } from '#shared/application/turn/requests/end-session.ts';
export { answerTerminal } from './answer-terminal.ts';
export { openSeldomPorts } from './seldom-ports.ts';
