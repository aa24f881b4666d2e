/**
 * The budget of a tree of sessions: what was spent, what calls to models have reserved, and what is left.
 *
 * A call to a model reserves the most it can cost before it is made, and exchanges that for its real cost. Where less is
 * left, it reserves what is left, and its answer is bounded by that. A reservation whose call may have been charged for, and whose
 * cost is unknown, counts as spent. While no call costs more than it reserved, a tree is never charged for more than its limit;
 * and no session waits for a call that is over (docs/spec/sessions.md: TM1, TM2, TM3, TM7). Tokens and tool calls of a branch are
 * reserved with its money, where a slice bounds them (TM8, TM9).
 */
import type { SessionId } from './ids.ts';
import {
  type CountedMeasure,
  egressBytesLeft,
  leastOf,
  type Measure,
  restOf,
  type Slice,
  sandboxMsLeft,
  withLost,
} from './tree-slice.ts';

export type Reservation = {
  /** The most its call can cost, in dollars. */
  readonly usd: number;
  /**
   * The fence of the lease under which it was made: a later holder of the session replaces it, an earlier one
   * does not.
   */
  readonly fence: number;
  /** Epoch milliseconds after which that call cannot be made any more. */
  readonly until: number;
  /** The call it is for, by a name of its own. Absent: made by an older version. */
  readonly call?: string | undefined;
  /** The slices that pay for it. Absent: none. */
  readonly slices?: readonly SessionId[] | undefined;
  /** The most tokens that its call can take, and the most tools that its answer may ask for. Absent: no slice pays for it. */
  readonly tokens?: number | undefined;
  readonly toolCalls?: number | undefined;
};

export type Tree = {
  /** The number of agents, the root included. */
  readonly agents: number;
  readonly spentUsd: number;
  /** Reservations of calls that may have been charged for, and whose cost is no longer known. Absent: none. */
  readonly unsettledUsd?: number | undefined;
  /** Reservations by session: each calls one model at a time. */
  readonly reserved: Readonly<Record<string, Reservation>>;
  /** By the session that was given it. Absent: made by an older version, and none. */
  readonly slices?: Readonly<Record<string, Slice>> | undefined;
  readonly version: number;
};

/** The end of a call, as its tree counts it. */
export type TreeSpend = {
  readonly root: SessionId;
  readonly usd: number;
  /** The most that it may have cost besides; negative where earlier tries are known to have cost a part of it. Absent: nothing. */
  readonly unsettledUsd?: number | undefined;
  /** The slices that pay for it. Absent: none. */
  readonly slices?: readonly SessionId[] | undefined;
  /** Of input and output; the most that it may have taken besides; and the tools that its answer asks for. Absent: none. */
  readonly tokens?: number | undefined;
  readonly unsettledTokens?: number | undefined;
  readonly toolCalls?: number | undefined;
  /** Its session's reservation, if there is one, is of another call. */
  readonly isUnreserved?: true;
};

export type ReservationRequest = Reservation & {
  readonly session: SessionId;
  readonly at: number;
  /** The least for which the call is worth making: its input and a short answer. At most `usd`. */
  readonly usdMin: number;
  /** The same in tokens. Absent: any number. */
  readonly tokensMin?: number | undefined;
  /** The limit of the whole tree, in dollars. */
  readonly usdMax: number;
};

/** The most that a call may cost and take now; tokens and tool calls only where they were asked for. */
export type Grant = {
  readonly grantedUsd: number;
  readonly tokens?: number | undefined;
  readonly toolCalls?: number | undefined;
};

/** `busy`: others have reserved what is left, so ask again soon. `spent`: what is left pays for no call. */
export type MoneyAnswer = Grant | 'busy' | 'spent';

/** The part of a limit that is left, and whether others have a part of it that they may give back. */
type Bound = { readonly rest: number; readonly left: number; readonly isShared: boolean };

/**
 * Where others have reservations a call waits for them rather than take less: most calls cost far less than they reserve. It has to
 * fit into what the tree has left (TM1), and into each slice that pays for it (TM8). One without a tool call left goes on: its
 * answer asks for none (TM9).
 */
export const decideReservation = (tree: Tree, request: ReservationRequest): MoneyAnswer => {
  const { session, fence, usd, usdMin, tokens, tokensMin = 0, toolCalls } = request;
  if ((tree.reserved[session]?.fence ?? 0) > fence) return 'busy';
  const boundsOf = boundsFor(tree, request);
  const money = within(boundsOf('usd'), { most: usd, least: usdMin });
  const ofTokens = tokens && within(boundsOf('tokens'), { most: tokens, least: tokensMin });
  const calls = toolCalls && callsWithin(boundsOf('toolCalls'), toolCalls);
  if (money === 'spent' || ofTokens === 'spent') return 'spent';
  if (money === 'busy' || ofTokens === 'busy' || calls === 'busy') return 'busy';
  return {
    grantedUsd: money,
    ...(ofTokens === undefined ? {} : { tokens: ofTokens }),
    ...(calls === undefined ? {} : { toolCalls: calls }),
  };
};

type Sum = { readonly most: number; readonly least: number };

const within = (bounds: readonly Bound[], { most, least }: Sum): number | 'busy' | 'spent' => {
  if (most === 0) return 0;
  if (bounds.some(({ rest }) => rest <= 0)) return 'spent';
  const final = bounds.filter(({ isShared }) => !isShared).map(({ left }) => left);
  const granted = Math.min(most, ...final);
  if (granted < least) return 'spent';
  const waits = bounds.some(({ isShared, left }) => isShared && left < granted);
  return waits ? 'busy' : granted;
};

const callsWithin = (bounds: readonly Bound[], most: number): number | 'busy' => {
  const granted = within(bounds, { most, least: 0 });
  return granted === 'spent' ? 0 : granted;
};

const boundsFor = (tree: Tree, request: ReservationRequest): ((measure: Measure) => readonly Bound[]) => {
  const { others, unsettledUsd, slices } = sorted(tree, request);
  const reservations = Object.values(others);
  const boundOf = (measure: Measure, rest: number, of: readonly Reservation[]): Bound => ({
    rest,
    left: of.reduce((left, other) => left - (other[measure] ?? 0), rest),
    isShared: of.some((other) => (other[measure] ?? 0) > 0),
  });
  const ofSlice = (measure: Measure, id: SessionId): Bound => {
    const slice = slices[id];
    const paid = reservations.filter((other) => other.slices?.includes(id));
    // Nothing is spent of a slice that is not written yet.
    return boundOf(measure, slice === undefined ? 0 : restOf(slice, measure), paid);
  };
  const ofTree = boundOf('usd', request.usdMax - tree.spentUsd - unsettledUsd, reservations);
  return (measure) => [
    ...(measure === 'usd' ? [ofTree] : []),
    ...(request.slices ?? []).map((id) => ofSlice(measure, id)),
  ];
};

type Claim = Reservation & Pick<ReservationRequest, 'session' | 'at'>;

type Reserved = {
  readonly reserved: Tree['reserved'];
  readonly unsettledUsd: number;
  readonly slices: Readonly<Record<string, Slice>>;
};

/** The reservations after a grant of `usd`, and the unsettled money. */
export const withReservation = (tree: Tree, claim: Claim): Reserved => {
  const { session, usd, fence, until, call, slices: of, tokens, toolCalls } = claim;
  const { others, unsettledUsd, slices } = sorted(tree, claim);
  const own = {
    ...{ usd, fence, until },
    ...(call === undefined ? {} : { call }),
    ...(of === undefined ? {} : { slices: of }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(toolCalls === undefined ? {} : { toolCalls }),
  };
  return { reserved: { ...others, [session]: own }, unsettledUsd, slices };
};

/**
 * The reservations of other calls, and what is unsettled. The session's older call and those whose time is over may have been made:
 * no function is left that knows. A request that is sent again, since its answer was lost, finds its own.
 */
const sorted = (
  { reserved, unsettledUsd = 0, slices = {} }: Tree,
  { session, call, at }: Pick<Claim, 'session' | 'call' | 'at'>,
): Omit<Reserved, 'reserved'> & { readonly others: Tree['reserved'] } => {
  const entries = Object.entries(reserved).filter(
    ([id, other]) => id !== session || call === undefined || other.call !== call,
  );
  const isOver = ([id, { until }]: [string, Reservation]): boolean => id === session || until <= at;
  const over = entries.filter(isOver).map(([, reservation]) => reservation);
  return {
    others: Object.fromEntries(entries.filter((entry) => !isOver(entry))),
    unsettledUsd: over.reduce((sum, { usd }) => sum + usd, unsettledUsd),
    slices: Object.fromEntries(
      Object.entries(slices).map(([id, slice]) => {
        const ofSlice = over.filter((other) => other.slices?.includes(id as SessionId));
        return [id, withLost(slice, ofSlice)];
      }),
    ),
  };
};

/**
 * A tree as it counts at a time: its reservations are of calls on their way, and those that are over are unsettled. In the table they are
 * reserved until the next call that is granted; where none is granted any more, for ever.
 */
export const settledAt = (tree: Tree, at: number): Tree => {
  const { others, ...money } = sorted(tree, { session: '' as SessionId, call: undefined, at });
  return { ...tree, ...money, reserved: others };
};

/** The part that a session may still give away: the least of what is left of its tree, and of the slices that pay for it. */
export const leftFor = (
  tree: Tree,
  request: Pick<ReservationRequest, 'session' | 'at' | 'usdMax' | 'slices'>,
): Readonly<Record<Measure | CountedMeasure, number>> => {
  // The caller reserves nothing: its own reservation is another's to it.
  const asked = { ...request, session: '' as SessionId, usd: 0, usdMin: 0, fence: 0, until: request.at };
  const boundsOf = boundsFor(tree, asked);
  const left = (measure: Measure): number =>
    Math.max(0, Math.min(...boundsOf(measure).map(({ left }) => left)));
  return {
    ...{ usd: left('usd'), tokens: left('tokens'), toolCalls: left('toolCalls') },
    sandboxMs: leastOf(tree, request.slices, (slice) => sandboxMsLeft(slice, request.at)),
    egressBytes: leastOf(tree, request.slices, egressBytesLeft),
  };
};
