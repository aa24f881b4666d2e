/** The slot of a session: under which session a sandbox counts, and the moves that the session's turn makes in it. */
import type { SessionId } from './ids.ts';
import type { Session } from './session.ts';
import type { TurnState } from './turn/turn.ts';

/** The session under which a sandbox that it starts counts. */
export const slotSessionOf = ({ id, slotOf }: Pick<Session, 'id' | 'slotOf'>): SessionId => slotOf ?? id;

/** A child works under the slot of its tree's first session, and an execution has no turn. */
export const turnTakesSlot = ({ kind, tree }: Pick<Session, 'kind' | 'tree'>): boolean =>
  kind === 'agent' && tree === undefined;

/** False when the session was read before a step that moved both its turn and its slot. */
export const isSlotOf = (session: Pick<Session, 'kind' | 'tree' | 'slot'>, { kind }: TurnState): boolean => {
  if (!turnTakesSlot(session) || kind === 'idle' || kind === 'done') return true;
  return (session.slot?.turn === true) === (kind !== 'deciding');
};

/**
 * The change that a step of its turn makes in the slot of a session: a turn that waits for a person, or has ended with no
 * message after it, holds none. Undefined: none.
 */
export const slotChangeOf = (
  session: Pick<Session, 'kind' | 'tree' | 'slot'>,
  state: TurnState,
  hasMessages: boolean,
): 'turn-began' | 'turn-rested' | undefined => {
  if (!turnTakesSlot(session)) return undefined;
  const works =
    state.kind === 'thinking' || state.kind === 'acting' || (state.kind !== 'deciding' && hasMessages);
  const holds = session.slot?.turn === true;
  if (works === holds) return undefined;
  return works ? 'turn-began' : 'turn-rested';
};
