/**
 * The work of one session that is in use, as assumed for `npm run bench -- scale`. Everything that is not measured and not
 * documented is here, and is printed with the result.
 */
export type Workload = {
  readonly turnsPerHour: number;
  readonly callsPerTurn: number;
  /** Of the turn function, with the model's and the tools' time. */
  readonly turnSeconds: number;
  /** Of the link, which carries each call into the sandbox. */
  readonly linkSeconds: number;
  readonly sandboxStartsPerHour: number;
  /** The part of the sessions whose sandbox runs. */
  readonly sandboxShare: number;
  /** The part of the sessions that reach hosts, for which the relay is held. */
  readonly networkShare: number;
  readonly relayIdleSeconds: number;
  /** Posts to a socket in a turn: text in batches of 50 ms, calls, their output. */
  readonly framesPerTurn: number;
  readonly connectsPerHour: number;
  /** Of one model call; cached tokens do not count in Anthropic's limit of input. */
  readonly freshInputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
};

export const busySession: Workload = {
  turnsPerHour: 6,
  callsPerTurn: 3,
  turnSeconds: 30,
  linkSeconds: 9,
  sandboxStartsPerHour: 1,
  sandboxShare: 1,
  networkShare: 0.2,
  relayIdleSeconds: 30,
  framesPerTurn: 220,
  connectsPerHour: 1,
  freshInputTokens: 3000,
  cachedInputTokens: 12_000,
  outputTokens: 400,
};

/** A model is asked once more than it calls tools. */
export const modelCallsPerHour = ({ turnsPerHour, callsPerTurn }: Workload): number =>
  turnsPerHour * (callsPerTurn + 1);
