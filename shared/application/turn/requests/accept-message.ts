/** Accepts a user's message into the session's inbox, once per message id, and invokes the turn function. */

import type { Attachment } from '../../../domain/attachment.ts';
import type { FeaturesSeen } from '../../../domain/features.ts';
import type { ConnectionId, MessageId } from '../../../domain/ids.ts';
import {
  messageTextBytesMax,
  openMessagesPerConnectionMax,
  waitingBytesMax,
  waitingMessagesMax,
} from '../../../domain/limits.ts';
import type { ThinkingLevel } from '../../../domain/model.ts';
import type { Session } from '../../../domain/session.ts';
import { slotHolderOf } from '../../../domain/slot-holder.ts';
import { utf8Bytes } from '../../../domain/text.ts';
import { markOf } from '../../../domain/turn/session-mark.ts';
import { AppError } from '../../../errors.ts';
import type { AcceptResult, InboxMessage } from '../../../ports/inbox.ts';
import { noConversationLeft, noFreeSlot } from '../../access/find-session.ts';
import type { MessageDeps } from '../../deps.ts';
import { endedSession } from '../../sandbox/ended-session.ts';
import { makeRoom } from '../../sandbox/make-room.ts';

export type NewMessage = {
  readonly text: string;
  readonly messageId?: string | undefined;
  readonly model?: string | undefined;
  readonly thinking?: ThinkingLevel | undefined;
  /** Checked. */
  readonly attachments?: readonly Attachment[] | undefined;
  readonly connectionId?: ConnectionId;
  /** The gateway's clock, where there is one: it orders messages of one client. */
  readonly acceptedAt?: number;
  /** The features of the deployment, read with the session. */
  readonly seen?: FeaturesSeen | undefined;
};

/** The id under which the message was accepted, now or before. */
export const acceptMessage = async (
  ports: MessageDeps,
  session: Session,
  message: NewMessage,
): Promise<MessageId> => {
  const { messageId, result } = await offerMessage(ports, session, message);
  if (result !== 'ended') return messageId;
  throw endedSession(session);
};

export type Offered = {
  readonly messageId: MessageId;
  /** `duplicate`: it was accepted before. `ended`: the session takes no more. */
  readonly result: 'accepted' | 'duplicate' | 'ended';
};

/** As `acceptMessage`, for a caller that has another session when this one has ended. */
export const offerMessage = async (
  ports: MessageDeps,
  session: Session,
  { text, model, thinking, attachments = [], connectionId, seen, ...given }: NewMessage,
): Promise<Offered> => {
  const { correlation, world } = ports;
  if (session.kind !== 'agent')
    throw new AppError('invalid_session_state', 'an execution session takes no messages');
  if (utf8Bytes(text) > messageTextBytesMax) throw tooLong();
  const messageId = (given.messageId ?? world.uuid()) as MessageId;
  const message = {
    messageId,
    text,
    acceptedAt: given.acceptedAt ?? world.now(),
    correlationId: correlation.id(),
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(connectionId === undefined ? {} : { connectionId }),
  };
  const result = await queueMessage(ports, session, { message, seen });
  // Only a message that repeats a turn is refused as `busy`.
  return { messageId, result: result === 'busy' ? 'ended' : result };
};

type Queued = { readonly message: InboxMessage; readonly seen?: FeaturesSeen | undefined };

/** Puts it into the inbox and invokes the turn function; a refusal that is no state of the session is thrown. */
export const queueMessage = async (
  ports: MessageDeps,
  session: Session,
  { message, seen }: Queued,
): Promise<Offered['result'] | 'busy'> => {
  const { invoker, slotLimits, telemetry } = ports;
  const { messageId } = message;
  const result = await acceptWithRoom(ports, session, message);
  switch (result) {
    case 'ended':
    case 'busy':
      return result;
    case 'too-many':
      throw new AppError(
        'too_many_requests',
        `more than ${openMessagesPerConnectionMax} messages of this connection are open`,
        { suggestions: ['Wait for a completion.'], recoveryActions: ['wait_and_retry'] },
      );
    case 'crowded':
      throw crowded();
    case 'full':
      throw noFreeSlot('agent', slotLimits.agentMax);
    case 'conversations':
      throw noConversationLeft(slotLimits.conversationsMax);
    case 'accepted':
    case 'duplicate':
      telemetry.info('a message was accepted', {
        event: 'message_accepted',
        sessionId: session.id,
        messageId,
      });
      // Of a message that is repeated nothing was accepted: what came since may be another one.
      await invoker.runTurn(session.id, {
        seen,
        ...(result === 'accepted' && rests(session) ? { mark: markOf(session) } : {}),
      });
      return result;
  }
};

/** No function holds its turn, unless one has just begun or ended. */
const rests = ({ status }: Session): boolean => status === 'idle' || status === 'created';

/** Each one is a sandbox that gave way, and whose slot another caller took. */
const roomsMax = 20;

/** `full` only when all slots are held by what works. */
const acceptWithRoom = async (
  ports: MessageDeps,
  session: Session,
  message: InboxMessage,
): Promise<AcceptResult> => {
  const { agentMax: slotsMax, conversationsMax } = ports.slotLimits;
  const accept = () => ports.inbox.accept(session, message, { slotsMax, conversationsMax });
  let result = await accept();
  for (let rooms = 0; result === 'full' && rooms < roomsMax; rooms += 1) {
    if (!(await makeRoom(ports, { holder: slotHolderOf(session) }))) break;
    result = await accept();
  }
  return result;
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
