/**
 * Ends a turn that no function continues, since the function does not start or dies before each commit, and one that finds no
 * slot. Its message, or the oldest that waits, gets its `completion`, so that no client waits for ever; a call that was to be
 * tried is asked about without its trial.
 */

import type { SessionId, TurnId } from '../../../domain/ids.ts';
import { treeOf } from '../../../domain/session.ts';
import { policyOf } from '../../../domain/turn/approval-policy.ts';
import { startedBy } from '../../../domain/turn/begin-turn.ts';
import { failedTurn } from '../../../domain/turn/failed-turn.ts';
import { killsOf } from '../../../domain/turn/pending-work.ts';
import { activityAt, completedMessage, messagesBehind } from '../../../domain/turn/session-after-step.ts';
import { isBetweenTurns } from '../../../domain/turn/turn.ts';
import type { TurnDeps } from '../../deps.ts';
import { commitStep } from '../commit/apply-event.ts';
import { notifyParent } from '../commit/notify-parent.ts';
import { printedIn } from '../commit/printed-output.ts';
import { cancelAll, childrenOf, killDetached, readCancelable } from './cancel-turn.ts';

const stalled = {
  code: 'internal_error',
  message: 'the turn could not continue because its function failed: the log of the function has the reason',
} as const;

type Failing = { readonly version: number } & (
  | { readonly fence: number; readonly failure: { readonly code: string; readonly message: string } }
  /** No function continues it. */
  | { readonly fence?: never; readonly failure?: never }
);

/** The holder of the lease gives its fence and why it fails. Does nothing when the turn has moved from this version. */
export const failTurn = async (
  ports: TurnDeps,
  id: SessionId,
  { version, fence, failure }: Failing,
): Promise<void> => {
  const found = await readCancelable(ports, id);
  if (found === undefined || found.turn.version !== version) return;
  const { session, turn, inbox } = found;
  const [next] = inbox;
  const at = ports.world.now();
  const { costUsd: spentUsd } = session;
  const turnId = ports.world.uuid() as TurnId;
  const begin = next && startedBy(next, { at, turnId, policy: policyOf(session), spentUsd });
  const step = failedTurn(turn.state, begin, {
    ...{ at, ...(failure ?? stalled) },
    printed: await printedIn(ports, id, turn.state),
  });
  if (step === undefined) return;
  const completed = completedMessage(turn.state, step, inbox);
  const isOver = isBetweenTurns(step.state);
  const hasMore = isOver && messagesBehind(inbox, completed).length > 0;
  const patch = activityAt(at, { isIdle: isOver && !hasMore });
  // Before the commit, behind which the next message may have children of its own.
  const children = isOver && treeOf(session) !== undefined ? await childrenOf(ports, session) : [];
  const commit = { session, turn, step, at, completed, patch, fence, wakes: hasMore };
  const committed = await commitStep(ports, commit);
  if (committed === undefined) return;
  if (failure === undefined) {
    ports.telemetry.error('a turn stalled: no function continued it', {
      event: 'turn_stalled',
      sessionId: id,
    });
    // Its caller is no function of the turn: no other caller begins the next message.
    if (hasMore) await ports.invoker.runTurn(id);
  }
  if (!isOver) return;
  await killDetached(ports, { session, kills: killsOf(turn.state, false) });
  await cancelAll(ports, children);
  await notifyParent(ports, session);
};
