/**
 * Drops a session's conversation; the log stays. Refused while a turn runs, which would go on with the dropped
 * messages, and once the session has ended.
 */

import { isEnded, type Session } from '../../domain/session.ts';
import { isBetweenTurns, type TurnRecord } from '../../domain/turn/turn.ts';
import { AppError } from '../../errors.ts';
import type { TurnDeps } from '../deps.ts';

import { commitStep } from '../turn/commit/apply-event.ts';

const racesMax = 5;

export const resetHistory = async (
  ports: TurnDeps,
  found: { readonly session: Session; readonly turn: TurnRecord },
): Promise<void> => {
  let current: typeof found | undefined = found;
  for (let race = 0; race < racesMax && current !== undefined; race += 1) {
    const { session, turn }: typeof found = current;
    if (isEnded(session.status)) throw ended(session);
    if (!isBetweenTurns(turn.state)) throw busy();
    const at = ports.world.now();
    const log = [{ type: 'system' as const, data: { kind: 'history_reset' } }];
    const step = { state: turn.state, log, history: [] };
    const forgotten = { ...turn, historyFrom: turn.historyNext };
    if (await commitStep(ports, { session, turn: forgotten, step, at, wakes: false })) return;
    current = await ports.turns.getWithTurn(session.id);
  }
  throw busy();
};

const ended = ({ status }: Session): AppError =>
  new AppError('invalid_session_state', `the session is ${status}`, {
    suggestions: ['Create a new session.'],
    recoveryActions: ['create_new_session'],
  });

const busy = (): AppError =>
  new AppError('conflict', 'a turn is running: its conversation cannot be forgotten now', {
    suggestions: ['Wait for its completion, or cancel it.'],
    recoveryActions: ['wait_and_retry'],
  });
