/**
 * The frames of the WebSocket as this page reads them: types only.
 *
 * What is in the log has the shapes of shared/domain; frames outside of it are written down here.
 * @import { LogEntry } from '#shared/domain/event-log.ts'
 */

/**
 * @typedef {{ readonly code: string, readonly message: string, readonly oldestIndex?: number }} ErrorFacts
 *
 * @typedef {{ readonly type: 'system:ready', readonly data: {
 *     readonly provider: string, readonly model: string, readonly sessionId: string,
 *     readonly status: string, readonly lastSeq: number } }
 *   | { readonly type: 'delta', readonly data: {
 *     readonly messageId: string, readonly offset: number, readonly text: string } }
 *   | { readonly type: 'tool:progress', readonly data: {
 *     readonly callId: string, readonly stream: 'stdout' | 'stderr',
 *     readonly offset: number, readonly text: string } }
 *   | { readonly type: 'error', readonly data: { readonly error: ErrorFacts } }
 *   | { readonly type: 'pong', readonly data: object }} UnloggedEntry
 *
 * @typedef {{ readonly seq: number | null, readonly at: string }} FrameHead
 * @typedef {(LogEntry | UnloggedEntry) & FrameHead} Frame
 *
 * @typedef {{ readonly action: 'message', readonly text: string, readonly messageId: string }
 *   | { readonly action: 'tool:approval', readonly callId: string, readonly approved: boolean,
 *       readonly remember?: 'session' }
 *   | { readonly action: 'session:stop' }
 *   | { readonly action: 'ping' }} ClientAction
 */

/** The subprotocol, and what is in front of a ticket when it travels as one. */
export const subprotocol = 'sallyport.v1';
export const ticketPrefix = 'ticket.';
