/**
 * Drops a session's conversation; the log stays. Refused while a turn runs, which would go on with the dropped
 * messages, and once the session has ended.
 */

import { isEnded, type Session } from '../../domain/session.ts';
import { unrepeatable } from '../../domain/turn/begin-turn.ts';
import { isBetweenTurns, type TurnRecord } from '../../domain/turn/turn.ts';
import { AppError } from '../../errors.ts';
import type { TurnDeps } from '../deps.ts';
import { endedSession } from '../sandbox/ended-session.ts';
import { commitStep } from '../turn/commit/apply-event.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';

export const resetHistory = async (
  ports: TurnDeps,
  found: { readonly session: Session; readonly turn: TurnRecord },
): Promise<void> => {
  const attempt = async (race: number) => {
    const current = race === 0 ? found : await ports.turns.getWithTurn(found.session.id);
    if (current === undefined) throw busy();
    const { session, turn } = current;
    if (isEnded(session.status)) throw endedSession(session);
    if (!isBetweenTurns(turn.state)) throw busy();
    if (session.runtime !== undefined) throw keptElsewhere(session.runtime);
    const at = ports.world.now();
    const log = [{ type: 'system' as const, data: { kind: 'history_reset' } }];
    const step = { state: unrepeatable(turn.state), log, history: [] };
    const forgotten = { ...turn, historyFrom: turn.historyNext };
    const isWritten = await commitStep(ports, { session, turn: forgotten, step, at, wakes: false });
    return isWritten ? undefined : raceLost;
  };
  return untilWon(attempt, changesTooOften('the turn'));
};

/** The program keeps it among its own files. */
const keptElsewhere = (runtime: string): AppError =>
  new AppError('invalid_session_state', `the conversation is kept by ${runtime} in the workspace`, {
    suggestions: ['Create a new session.'],
    recoveryActions: ['create_new_session'],
  });

const busy = (): AppError =>
  new AppError('conflict', 'a turn is running: the conversation cannot be cleared now', {
    suggestions: ['Wait for its completion, or cancel it.'],
    recoveryActions: ['wait_and_retry'],
  });
