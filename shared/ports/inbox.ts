/** The inbox of a session: messages that wait for their turn, each accepted once under its id. */
import type { ConnectionId, MessageId, SessionId } from '../domain/ids.ts';
import type { Session } from '../domain/session.ts';

/** A user's message that waits for its turn. */
export type InboxMessage = {
  readonly messageId: MessageId;
  readonly text: string;
  readonly acceptedAt: number;
  readonly model?: string;
  readonly connectionId?: ConnectionId;
  readonly correlationId: string;
};

/** `too-many`: of the connection. `crowded`: in the session. `full`: no slot for another active session. */
export type AcceptResult = 'accepted' | 'duplicate' | 'too-many' | 'crowded' | 'ended' | 'full';

export interface Inbox {
  /** The first message of a session acquires its slot. */
  accept(session: Session, message: InboxMessage, slotsMax: number): Promise<AcceptResult>;
  /** True when a message of that id was accepted within a day. */
  wasAccepted(id: SessionId, message: MessageId): Promise<boolean>;
}
