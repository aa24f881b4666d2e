/**
 * The frames of the WebSocket as this app reads them, and the actions it sends: types only.
 *
 * What is in the log has the shapes of shared/domain; frames outside of it are written down here.
 */
import type { SocketAction } from '#shared/contracts/socket-actions.ts';
import type { LogEntry } from '#shared/domain/event-log.ts';

export type RefusalFacts = {
  readonly code: string;
  readonly message: string;
  readonly suggestions?: readonly string[];
  readonly oldestIndex?: number;
};

export type Greeting = {
  readonly provider: string;
  readonly model: string;
  readonly sessionId: string;
  readonly status: string;
  readonly lastSeq: number;
  readonly tools?: readonly string[];
  readonly mcpServers?: readonly { readonly name: string; readonly status: string }[];
};

export type UnloggedEntry =
  | { readonly type: 'system:ready'; readonly data: Greeting }
  | {
      readonly type: 'delta';
      readonly data: { readonly messageId: string; readonly offset: number; readonly text: string };
    }
  | {
      readonly type: 'tool:progress';
      readonly data: {
        readonly callId: string;
        readonly stream: 'stdout' | 'stderr';
        readonly offset: number;
        readonly text: string;
      };
    }
  | { readonly type: 'approvals'; readonly data: { readonly waiting: number } }
  | { readonly type: 'error'; readonly data: { readonly error: RefusalFacts } }
  | { readonly type: 'pong'; readonly data: object };

/** A frame that names another session than the one that is open comes from a session under it, and has no number. */
export type FrameHead = { readonly sessionId?: string; readonly seq: number | null; readonly at: string };
export type Frame = (LogEntry | UnloggedEntry) & FrameHead;

export type ClientAction = Extract<
  SocketAction,
  { readonly action: 'message' | 'tool:approval' | 'turn:cancel' | 'session:stop' | 'history:reset' | 'ping' }
>;

/** The subprotocol, and what is in front of a ticket when it travels as one. */
export const subprotocol = 'sallyport.v1';
export const ticketPrefix = 'ticket.';
