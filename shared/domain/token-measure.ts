/**
 * Tokens that a provider counted, beside the estimate: they say what a longer conversation will count, and save the question.
 *
 * Kept for a long history alone.
 */
import { charactersPerToken, estimateHistory, type HistoryLimits } from './history.ts';
import type { ModelRequest } from './model.ts';

/** Tokens of one request: the estimate of all that it held, and the provider's own count with its answer. */
export type TokenMeasure = { readonly estimated: number; readonly counted: number };

/** System text and tools beside the history: they count as well. */
export const estimateRequest = ({ system, tools, history }: ModelRequest): number =>
  estimateHistory(history) + Math.ceil((system.length + JSON.stringify(tools).length) / charactersPerToken);

/** The share of its limit from which a history is measured: of a short one, most that is counted is not of the conversation. */
const measuredFrom = 1 / 4;

/** Absent where the request says too little about longer ones. */
export const measureOf = (
  request: ModelRequest,
  counted: number,
  { tokensMax }: HistoryLimits,
): TokenMeasure | undefined =>
  estimateHistory(request.history) < tokensMax * measuredFrom
    ? undefined
    : { estimated: estimateRequest(request), counted };

/** The tokens that a provider will count for a request, by those that it counted for an earlier one. */
export const expectedTokens = (request: ModelRequest, { estimated, counted }: TokenMeasure): number =>
  Math.ceil((estimateRequest(request) * counted) / estimated);
