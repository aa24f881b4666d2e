/**
 * The frames of the WebSocket as a client reads them, and the actions that it sends: types only.
 *
 * Logged frames have the shapes of shared/domain; frames outside of the log are written down here.
 */
import type { SocketAction } from '../shared/contracts/socket-actions.ts';
import type { LogEntry } from '../shared/domain/event-log.ts';
import type { ErrorFacts } from './errors.ts';

export type Greeting = {
  readonly provider: string;
  readonly model: string;
  readonly sessionId: string;
  readonly status: string;
  readonly lastSeq: number;
  readonly tools?: readonly string[];
  readonly mcpServers?: readonly { readonly name: string; readonly status: string }[];
};

type UnloggedEntry =
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
  | { readonly type: 'error'; readonly data: { readonly error: ErrorFacts } }
  | { readonly type: 'pong'; readonly data: object };

type FrameHead = {
  /** Null on a connection that belongs to no session; a frame of a session under the open one has no number. */
  readonly sessionId: string | null;
  readonly seq: number | null;
  readonly at: string;
};
export type Frame = (LogEntry | UnloggedEntry) & FrameHead;
export type FrameOf<Type extends Frame['type']> = Extract<Frame, { readonly type: Type }>;

export type ClientAction = Extract<
  SocketAction,
  { readonly action: 'message' | 'tool:approval' | 'turn:cancel' | 'session:stop' | 'history:reset' | 'ping' }
>;
