/**
 * Ends, for the janitor, a turn that no function continues: the function does not start, or dies before each commit. Its
 * message, or the oldest that waits, gets its `completion`, so that no client waits for ever.
 */

import type { SessionId, TurnId } from '../../../domain/ids.ts';
import { treeOf } from '../../../domain/session.ts';
import { completedMessage } from '../../../domain/turn/after-step.ts';
import { failedTurn } from '../../../domain/turn/failed-turn.ts';
import type { TurnDeps } from '../../deps.ts';
import { commitStep } from '../commit/apply-event.ts';
import { notifyParent } from '../commit/notify-parent.ts';
import { cancelChildren, readCancelable } from './cancel-turn.ts';

const failure = {
  code: 'internal_error',
  message: 'the turn could not be continued: its function does not start, or fails; its log has the reason',
} as const;

/** Does nothing when the turn has moved from this version. */
export const failTurn = async (
  ports: TurnDeps,
  id: SessionId,
  { version, correlationId }: { readonly version: number; readonly correlationId: string },
): Promise<void> => {
  const found = await readCancelable(ports, id);
  if (found === undefined || found.turn.version !== version) return;
  const { session, turn, inbox } = found;
  const [next] = inbox;
  const at = ports.world.now();
  const { approvals: mode, grants, costUsd: spentUsd } = session;
  const begin = next && {
    type: 'started' as const,
    at,
    turnId: ports.world.uuid() as TurnId,
    message: { messageId: next.messageId, text: next.text },
    policy: { mode, grants },
    spentUsd,
  };
  const step = failedTurn(turn.state, begin, { at, ...failure });
  if (step === undefined) return;
  const completed = completedMessage(turn.state, step, inbox);
  const hasMore = inbox.some((message) => message !== completed);
  const patch = { lastActiveAt: at, ...(hasMore ? {} : { status: 'idle' as const }) };
  const committed = await commitStep(ports, { session, turn, step, at, completed, patch, wakes: hasMore });
  if (committed === undefined) return;
  ports.telemetry.error('a turn was ended: no function continued it', {
    event: 'turn_stalled',
    sessionId: id,
  });
  if (treeOf(session) !== undefined) await cancelChildren(ports, session, correlationId);
  await notifyParent(ports, session, correlationId);
};
