/** Values of the application from the variables of its environment: limits, lifetimes and defaults, in its own units. */
import type { Ceiling } from '../domain/egress-policy.ts';
import type { ceiling, decisions } from './environment-parts.ts';
import type { ValuesOf } from './group.ts';
import type {
  lifetimeSettings,
  quotaSettings,
  rateSettings,
  sandboxSettings,
  treeSettings,
} from './settings.ts';

type LifetimeVariables = ValuesOf<typeof lifetimeSettings>;

/** The lifetimes of sessions, their sandboxes and what they leave, in milliseconds. */
export const lifetimesOf = (variables: LifetimeVariables) => ({
  idleMs: variables.MAX_IDLE_TIME_MS,
  executionIdleMs: variables.MSB_SESSION_TIMEOUT_SECONDS * 1000,
  historyMs: variables.HISTORY_TTL_SECONDS * 1000,
  pausedMs: variables.PAUSED_TTL_SECONDS * 1000,
  waitStopMs: variables.WAIT_STOP_SECONDS * 1000,
});

/** The limits of slots and conversations, and the lifetimes of the sessions whose sandboxes give way. */
export const slotLimitsOf = (variables: ValuesOf<typeof quotaSettings> & LifetimeVariables) => ({
  slotLimits: {
    executionMax: variables.MSB_MAX_SESSIONS,
    agentMax: variables.MAX_AGENT_SLOTS,
    conversationsMax: variables.MAX_CONVERSATIONS,
    evictsIdle: variables.MSB_EVICT_IDLE,
  },
  lifetimes: lifetimesOf(variables),
});

type DefaultVariables = ValuesOf<typeof sandboxSettings> &
  ValuesOf<typeof lifetimeSettings> & {
    readonly MODEL?: string | undefined;
    readonly TEMPLATES_PROBLEM?: string | undefined;
  };

/** The templates of the operator, and the reason why they cannot be used. */
export const knownTemplatesOf = (
  variables: Pick<DefaultVariables, 'SANDBOX_TEMPLATES' | 'TEMPLATES_PROBLEM'>,
) => ({ named: variables.SANDBOX_TEMPLATES ?? [], problem: variables.TEMPLATES_PROBLEM });

/** The settings of a session whose creator leaves them open. */
export const sessionDefaultsOf = (variables: DefaultVariables) => ({
  flavor: variables.MSB_DEFAULT_FLAVOR,
  template: variables.MSB_DEFAULT_TEMPLATE,
  templates: knownTemplatesOf(variables),
  lifetimes: lifetimesOf(variables),
  ...(variables.MODEL === undefined ? {} : { model: variables.MODEL }),
});

/** The limits of a turn, for every function that moves it. */
export const turnLimitsOf = (variables: ValuesOf<typeof decisions>) => ({
  stepsMax: variables.MAX_STEPS_PER_TURN,
  usdMax: variables.MAX_COST_USD,
});

/** The limits of trees of agents, where a session has none of its own. */
export const treeLimitsOf = (
  variables: ValuesOf<typeof treeSettings> & Pick<ValuesOf<typeof decisions>, 'MAX_COST_USD'>,
): {
  readonly recursionDepthMax: number;
  readonly agentsPerSessionMax: number;
  readonly costUsdMax: number;
} => ({
  recursionDepthMax: variables.MAX_RECURSION_DEPTH,
  agentsPerSessionMax: variables.MAX_AGENTS_PER_SESSION,
  costUsdMax: variables.MAX_COST_USD,
});

/** Absent: no sandbox has a network. */
export const egressCeilingOf = ({
  EGRESS_ALLOW: allow,
}: ValuesOf<typeof ceiling>): { readonly egressCeiling: Ceiling | undefined } => ({
  egressCeiling: allow === undefined || allow === 'any host' ? allow : { allow },
});

const bytesInMegabyte = 1_000_000;

export const egressBytesMaxOf = ({ MAX_EGRESS_MB }: { readonly MAX_EGRESS_MB: number }) => ({
  egressBytesMax: MAX_EGRESS_MB * bytesInMegabyte,
});

export const rateOf = (variables: ValuesOf<typeof rateSettings>) => ({
  perSecond: variables.RATE_LIMIT_PER_SECOND,
  burst: variables.RATE_LIMIT_BURST,
});
