/** Prices of the simulated model: by output tokens, so that no call costs more than it reserved. */
import type { TokenUsage } from '#shared/domain/model.ts';

export const outputTokensMax = 100;
const outputUsd = 0.0002;
export const callUsdMax = outputTokensMax * outputUsd;

export const costOf = ({ outputTokens }: TokenUsage): number => outputTokens * outputUsd;
