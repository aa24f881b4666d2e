/** Prices of the simulated model: by output tokens, to whose bound it keeps, so that no call costs more than it reserved. */
import type { TokenUsage } from '#shared/domain/model.ts';

export const outputTokensMax = 1000;
const defaultOutputUsd = 0.000_02;

export const costOf = ({ outputTokens }: TokenUsage, outputUsd = defaultOutputUsd): number =>
  outputTokens * outputUsd;
