/** Comparisons of a session with what the writer of its turn read: of what a step was decided with. */
import type { Session } from '#shared/domain/session.ts';
import { isSlotOf } from '#shared/domain/session-slot.ts';
import type { TurnCommit } from '#shared/ports/turn-store.ts';

/** A grant, its turn's slot or the limit of money is another since the session was read: nothing decided with that is written. */
export const isDecidedOtherwise = (commit: TurnCommit, now: Session): boolean =>
  grantIds(now) !== grantIds(commit.session) ||
  hasOtherSlot(commit, now) ||
  (commit.weighsMoney === true && !hasMoneyOf(now, commit.session));

/** A message that came takes the slot beside a step that moves none: that alone is no reason to decide again. */
const hasOtherSlot = ({ session: read, slot, state }: TurnCommit, now: Session): boolean =>
  now.slot?.turn !== read.slot?.turn &&
  (slot !== undefined || now.workSeq === read.workSeq || !isSlotOf(now, state));

const hasMoneyOf = ({ limits: now }: Session, { limits: read }: Session): boolean =>
  now?.costUsdMax === read?.costUsdMax && now?.ownCostUsdMax === read?.ownCostUsdMax;

const grantIds = ({ grants }: Session): string => grants.map(({ id }) => id).join();

export const hasCostAsRead = ({ costUsd, usage }: Session, read: Session): boolean =>
  costUsd === read.costUsd &&
  usage.inputTokens === read.usage.inputTokens &&
  usage.outputTokens === read.usage.outputTokens;
