/** The inbox of a session: messages that wait for their turn, each accepted once under its id. */
import type { Attachment } from '../domain/attachment.ts';
import type { ConnectionId, MessageId, SessionId, TurnId } from '../domain/ids.ts';
import type { ThinkingLevel } from '../domain/model.ts';
import type { Session } from '../domain/session.ts';

/** A user's message that waits for its turn. */
export type InboxMessage = {
  readonly messageId: MessageId;
  readonly text: string;
  readonly attachments?: readonly Attachment[];
  readonly acceptedAt: number;
  readonly model?: string;
  readonly thinking?: ThinkingLevel;
  readonly connectionId?: ConnectionId;
  readonly correlationId: string;
  /** The failed turn of this message, which the conversation has already: such a turn is repeated once. */
  readonly repeats?: TurnId;
  /** The number of items in which it was read, when in more than one: they leave together. */
  readonly parts?: number;
};

/**
 * `too-many`: of the connection. `crowded`: in the session. `full`: no slot for another turn. `conversations`: the project
 * has as many as it may have. `busy`: a turn is not repeated, since another message came.
 */
export type AcceptResult =
  | 'accepted'
  | 'duplicate'
  | 'too-many'
  | 'crowded'
  | 'ended'
  | 'busy'
  | 'full'
  | 'conversations';

/** Limits of a project. */
export type InboxLimits = { readonly slotsMax: number; readonly conversationsMax: number };

export interface Inbox {
  /** A message to a session that rests acquires the slot of its turn, and the first one makes it a conversation. */
  accept(session: Session, message: InboxMessage, limits: InboxLimits): Promise<AcceptResult>;
  /** True when a message of that id was accepted within a day. */
  wasAccepted(id: SessionId, message: MessageId): Promise<boolean>;
}
