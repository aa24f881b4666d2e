/**
 * Repeats the message of a session's last turn, which failed, so that the client need not send it again. The failed turn is the
 * idempotency key: two requests at once make one turn.
 */

import type { MessageId } from '../../../domain/ids.ts';
import { isEnded } from '../../../domain/session.ts';
import { repeatableTurn } from '../../../domain/turn/begin-turn.ts';
import { AppError } from '../../../errors.ts';
import type { MessageDeps } from '../../deps.ts';
import type { FoundTurn } from '../commit/commit-without-lease.ts';
import { queueMessage } from './accept-message.ts';

/** The id of the message. Throws `invalid_session_state` when the last turn has not failed, or another message came since. */
export const retryTurn = async (
  ports: MessageDeps,
  { session, turn, seen }: FoundTurn,
): Promise<MessageId> => {
  if (isEnded(session.status)) throw notRepeated(`the session is ${session.status}`);
  const failed = repeatableTurn(turn);
  if (failed === undefined) throw notRepeated('its last turn has not failed');
  const { turnId: repeats, ...asked } = failed;
  const { correlation, world } = ports;
  const message = { ...asked, text: '', acceptedAt: world.now(), correlationId: correlation.id(), repeats };
  const result = await queueMessage(ports, session, { message, seen });
  if (result === 'ended') throw notRepeated('the session has ended');
  if (result === 'busy') throw notRepeated('it has a newer message');
  return asked.messageId;
};

const notRepeated = (why: string): AppError =>
  new AppError('invalid_session_state', `nothing is repeated: ${why}`, {
    suggestions: ['Send a message.'],
  });
