/**
 * Trees of sessions: the agents of each, the money they have spent, and the money they have reserved.
 *
 * A tree is made with its first child (`SessionStore.create`), and the cost of a call is recorded with its answer
 * (`SessionStore.commitTurn`). The conformance suite is tests/conformance/tree-store.test.ts.
 */
import type { SessionId } from '../domain/ids.ts';
import type { MoneyAnswer, ReservationRequest, Tree } from '../domain/session-tree.ts';

export interface TreeStore {
  /** Undefined where its root has no child, or is deleted. */
  read(root: SessionId): Promise<Tree | undefined>;
  /** A deleted tree has nothing left. A caller that loses every race gets `busy`. */
  reserve(root: SessionId, request: ReservationRequest): Promise<MoneyAnswer>;
  /** For a call that did not complete; the reservation of a later holder of the session stays. */
  release(root: SessionId, of: { readonly session: SessionId; readonly fence: number }): Promise<void>;
}
