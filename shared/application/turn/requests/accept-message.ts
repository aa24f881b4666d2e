/** Accepts a user's message into the session's inbox, once per message id, and invokes the turn function. */

import type { FeaturesSeen } from '../../../domain/features.ts';
import type { ConnectionId, MessageId } from '../../../domain/ids.ts';
import {
  messageTextBytesMax,
  openMessagesPerConnectionMax,
  waitingBytesMax,
  waitingMessagesMax,
} from '../../../domain/limits.ts';
import type { Session } from '../../../domain/session.ts';
import { utf8Bytes } from '../../../domain/text.ts';
import { AppError } from '../../../errors.ts';
import { noFreeSlot } from '../../access/find-session.ts';
import type { TurnDeps } from '../../deps.ts';

export type NewMessage = {
  readonly text: string;
  readonly messageId?: string | undefined;
  readonly model?: string | undefined;
  readonly connectionId?: ConnectionId;
  /** The gateway's clock, where there is one: it orders messages of one client. */
  readonly acceptedAt?: number;
  readonly correlationId: string;
  /** Active agent sessions of one project. */
  readonly slotsMax: number;
  /** The features of the deployment, read with the session. */
  readonly seen?: FeaturesSeen | undefined;
};

/** The id under which the message was accepted, now or before. */
export const acceptMessage = async (
  ports: TurnDeps,
  session: Session,
  message: NewMessage,
): Promise<MessageId> => {
  const { messageId, result } = await offerMessage(ports, session, message);
  if (result !== 'ended') return messageId;
  throw new AppError('invalid_session_state', `the session is ${session.status}`, {
    suggestions: ['Create a new session.'],
    recoveryActions: ['create_new_session'],
  });
};

export type Offered = {
  readonly messageId: MessageId;
  /** `duplicate`: it was accepted before. `ended`: the session takes no more. */
  readonly result: 'accepted' | 'duplicate' | 'ended';
};

/** As `acceptMessage`, for a caller that has another session when this one has ended. */
export const offerMessage = async (
  { inbox, invoker, telemetry, world }: TurnDeps,
  session: Session,
  { text, model, connectionId, correlationId, slotsMax, seen, ...given }: NewMessage,
): Promise<Offered> => {
  if (session.kind !== 'agent')
    throw new AppError('invalid_session_state', 'an execution session takes no messages');
  if (utf8Bytes(text) > messageTextBytesMax) throw tooLong();
  const messageId = (given.messageId ?? world.uuid()) as MessageId;
  const message = {
    messageId,
    text,
    acceptedAt: given.acceptedAt ?? world.now(),
    correlationId,
    ...(model === undefined ? {} : { model }),
    ...(connectionId === undefined ? {} : { connectionId }),
  };
  const result = await inbox.accept(session, message, slotsMax);
  switch (result) {
    case 'ended':
      return { messageId, result };
    case 'too-many':
      throw new AppError(
        'too_many_requests',
        `more than ${openMessagesPerConnectionMax} messages of this connection are open`,
        { suggestions: ['Wait for a completion.'], recoveryActions: ['wait_and_retry'] },
      );
    case 'crowded':
      throw crowded();
    case 'full':
      throw noFreeSlot('agent', slotsMax);
    case 'accepted':
    case 'duplicate':
      telemetry.info('a message was accepted', {
        event: 'message_accepted',
        sessionId: session.id,
        messageId,
      });
      await invoker.runTurn(session.id, correlationId, { seen });
      return { messageId, result };
  }
};

const crowded = (): AppError =>
  new AppError(
    'too_many_requests',
    `at most ${waitingMessagesMax} messages, and ${waitingBytesMax} bytes of them, wait in a session`,
    { suggestions: ['Wait for a completion.'], recoveryActions: ['wait_and_retry'] },
  );

const tooLong = (): AppError =>
  new AppError('payload_too_large', `a message is at most ${messageTextBytesMax} bytes`, {
    suggestions: ['Put it into the workspace as a file and name the file.'],
  });
