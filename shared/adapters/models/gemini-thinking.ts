/**
 * Gemini's settings for a level of thinking (https://ai.google.dev/gemini-api/docs/thinking).
 *
 * Since Gemini 3 a model has levels, of which `MINIMAL` is the lowest; 2.5 has a budget of tokens, within those of the
 * answer; earlier models do not think, and are told nothing.
 */
import { ThinkingLevel as GeminiLevel, type GenerateContentConfig } from '@google/genai';
import type { ModelRequest } from '#shared/domain/model.ts';
import type { ShownThinking } from './stream-answer.ts';

const withoutThinking = /^(models\/)?gemini-(1|2\.0)/;
const withBudget = /^(models\/)?gemini-2\.5/;

const levels = {
  off: GeminiLevel.MINIMAL,
  low: GeminiLevel.LOW,
  medium: GeminiLevel.MEDIUM,
  high: GeminiLevel.HIGH,
} as const;
/** The part of an answer's tokens that thinking may take. */
const shares = { off: 0, low: 1 / 4, medium: 1 / 2, high: 3 / 4 } as const;

export const thinkingConfig = (
  { model, thinking: level, outputTokensMax }: ModelRequest,
  shown: ShownThinking,
): Pick<GenerateContentConfig, 'thinkingConfig'> => {
  if (level === undefined || shown === 'unset' || withoutThinking.test(model)) return {};
  return {
    thinkingConfig: {
      ...(shown === 'shown' ? { includeThoughts: true } : {}),
      ...(withBudget.test(model)
        ? { thinkingBudget: Math.floor(outputTokensMax * shares[level]) }
        : { thinkingLevel: levels[level] }),
    },
  };
};
