/** The limits of one tree of agents: how deep, how many agents, how much money. */
export type TreeLimits = {
  /** 0: its agent starts no other. */
  readonly recursionDepthMax?: number;
  readonly agentsPerSessionMax?: number;
  /** US dollars. */
  readonly costUsdMax?: number;
};

/** The bounds in which a project and an operator may set them (docs/spec/sessions.md). */
export const treeLimitBounds = {
  recursionDepthMax: { min: 0, max: 10 },
  agentsPerSessionMax: { min: 1, max: 1000 },
  costUsdMax: { min: 0, max: 100_000 },
} as const satisfies Record<keyof TreeLimits, { readonly min: number; readonly max: number }>;

/** The limits in force: a session's or project's own, and the operator's where those are absent. */
export const limitsInForceFor = (
  { limits }: { readonly limits?: TreeLimits },
  operator: Required<TreeLimits>,
): Required<TreeLimits> => ({
  recursionDepthMax: limits?.recursionDepthMax ?? operator.recursionDepthMax,
  agentsPerSessionMax: limits?.agentsPerSessionMax ?? operator.agentsPerSessionMax,
  costUsdMax: limits?.costUsdMax ?? operator.costUsdMax,
});

/** A turn's limits with its session's money: the project's limit, or the operator's. */
export const withOwnMoney = <Limits extends { readonly usdMax: number }>(
  turn: Limits,
  { limits }: { readonly limits?: TreeLimits },
): Limits => ({ ...turn, usdMax: limits?.costUsdMax ?? turn.usdMax });
