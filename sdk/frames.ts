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
  /** Of the demo provider: that it is no language model. */
  readonly note?: string;
};

export type OutputPiece = {
  readonly stream: 'stdout' | 'stderr' | 'pty';
  readonly offset: number;
  /** Of the output itself, where some of it was no UTF-8. */
  readonly bytes?: number;
  readonly text: string;
};
export type ProcessEnd = {
  readonly exitCode?: number | null;
  readonly signal?: string;
  readonly lost?: true;
  readonly outputLost?: true;
};

type MessagePiece = { readonly messageId: string; readonly offset: number; readonly text: string };

type UnloggedEntry =
  | { readonly type: 'system:ready'; readonly data: Greeting }
  | { readonly type: 'delta'; readonly data: MessagePiece }
  /** Of the thoughts before the answer of that id. */
  | { readonly type: 'reasoning_delta'; readonly data: MessagePiece }
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
  | { readonly type: 'process:output'; readonly data: { readonly processId: string } & OutputPiece }
  | { readonly type: 'process:exit'; readonly data: { readonly processId: string } & ProcessEnd }
  | {
      readonly type: 'error';
      readonly data: {
        readonly error: ErrorFacts;
        /** The message that was refused. */
        readonly messageId?: string | undefined;
        /** The process that the refused frame named, and the number it had. */
        readonly processId?: string;
        readonly order?: number;
      };
    }
  | {
      readonly type: 'caller_tools:declared';
      readonly data: { readonly callerId: string; readonly tools: readonly string[] };
    }
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
  {
    readonly action:
      | 'message'
      | 'tool:approval'
      | 'turn:cancel'
      | 'session:stop'
      | 'history:reset'
      | 'process:input'
      | 'process:resize'
      | 'ping';
  }
>;
