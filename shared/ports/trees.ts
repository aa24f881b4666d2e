/**
 * Trees of sessions: the agents of each, the money they have spent, and the money they have reserved.
 *
 * A tree is made with its first child (`SessionStore.create`), and the cost of a call is recorded with its answer
 * (`TurnStore.commit`). The conformance suite is tests/conformance/tree-store.test.ts.
 */
import type { SessionId } from '../domain/ids.ts';
import type { TokenUsage } from '../domain/model.ts';
import type { Payers } from '../domain/sandbox-meter.ts';
import type { Session } from '../domain/session.ts';
import type { ToolCallUse } from '../domain/tool-call-use.ts';
import type { MoneyAnswer, ReservationRequest, Tree } from '../domain/tree-budget.ts';
import type { SliceLimits } from '../domain/tree-slice.ts';

export interface TreeStore {
  /** Undefined where its root has no child, or is deleted. */
  read(root: SessionId): Promise<Tree | undefined>;
  /** The tree of a session that has none; false when that has moved since it was read, or has ended. */
  begin(session: Session): Promise<boolean>;
  /**
   * A call outside any turn has ended: its cost takes the place of its reservation, and is added to its session with its usage.
   * Without effect where tree or session is deleted.
   */
  spend(
    root: SessionId,
    of: {
      readonly reservation: SessionId;
      readonly session: SessionId;
      readonly usd: number;
      readonly usage: TokenUsage;
      /** The most that it may have cost besides. */
      readonly unsettledUsd: number;
      readonly slices?: readonly SessionId[] | undefined;
      /** Of slices: what it took, and what it may have taken besides. */
      readonly tokens?: number | undefined;
      readonly unsettledTokens?: number | undefined;
    },
  ): Promise<void>;
  /** The part of a child and all below it, once, after it was made and before it is asked anything. */
  addSlice(root: SessionId, of: SliceLimits & { readonly session: SessionId }): Promise<void>;
  /**
   * The money of a slice is this from now on, made if there is none. `spentUsd`: of one that no session names yet, which has been
   * spent as much at least. Of a tree that does not exist nothing changes.
   */
  limitSlice(
    root: SessionId,
    of: { readonly session: SessionId; readonly usdMax: number; readonly spentUsd?: number | undefined },
  ): Promise<void>;
  /** Counts one call of a tool in slices, if each of them has one left. A caller that loses every race gets `busy`. */
  useToolCall(payers: Payers, at: number): Promise<ToolCallUse>;
  /** A deleted tree has nothing left. A caller that loses every race gets `busy`. */
  reserve(root: SessionId, request: ReservationRequest): Promise<MoneyAnswer>;
  /** For a call that did not complete, with what it may have cost; the reservation of a later holder of the session stays. */
  release(
    root: SessionId,
    of: {
      readonly session: SessionId;
      readonly fence: number;
      readonly unsettledUsd: number;
      readonly slices?: readonly SessionId[] | undefined;
      readonly unsettledTokens?: number | undefined;
    },
  ): Promise<void>;
}
