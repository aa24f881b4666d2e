/**
 * Trees of sessions: how many agents each has, what they have spent, and what they have reserved.
 *
 * A tree is made with its first child (`SessionStore.create`), and what a call did cost is counted where its answer
 * is written (`SessionStore.commitTurn`). The conformance suite is tests/conformance/tree-store.test.ts.
 */
import type { SessionId } from '../domain/ids.ts';
import type { MoneyAnswer, ReservationRequest, Tree } from '../domain/tree-money.ts';

export interface TreeStore {
  /** Undefined where its root has no child, or is forgotten. */
  read(root: SessionId): Promise<Tree | undefined>;
  /** A tree that is forgotten has nothing left. Who loses to others each time is told that they are `busy`. */
  reserve(root: SessionId, request: ReservationRequest): Promise<MoneyAnswer>;
  /** For a call that was not made to its end; what a later holder of the session has reserved stays. */
  release(root: SessionId, of: { readonly session: SessionId; readonly fence: number }): Promise<void>;
}
