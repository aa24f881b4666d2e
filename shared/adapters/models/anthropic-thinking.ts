/**
 * Claude's settings for a level of thinking (https://platform.claude.com/docs/en/build-with-claude/thinking).
 *
 * Newer models think as much as they need, within an effort; older ones get a budget of tokens, which must leave room for
 * the answer; the oldest do not think, and are told nothing. An older model refuses to think on within an exchange whose
 * beginning comes back without its thoughts. No request has a temperature, which thinking would refuse.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { ModelRequest, ThinkingLevel } from '#shared/domain/model.ts';
import type { Piece } from './provider-state.ts';
import type { ShownThinking } from './stream-answer.ts';

type Replay = (message: Extract<HistoryMessage, { role: 'assistant' }>) => readonly Piece[];
type Level = Exclude<ThinkingLevel, 'off'>;

/** The form of thinking that a model takes, by its name: anything unknown is newer. */
export type ThinkingKind = 'none' | 'budget' | 'adaptive';

const withoutThinking = /claude-(instant|v?2|3-(opus|sonnet|haiku|5-))/;
const withBudget = /claude-(3-7-|(opus|sonnet|haiku)-4(-[0-5])?(-\d{8}|-latest|-v\d|@|$))/;

export const thinkingKind = (model: string): ThinkingKind =>
  withoutThinking.test(model) ? 'none' : withBudget.test(model) ? 'budget' : 'adaptive';

/** The part of an answer's tokens that thinking may take. */
const shares: Readonly<Record<Level, number>> = { low: 1 / 4, medium: 1 / 2, high: 3 / 4 };
/** https://platform.claude.com/docs/en/build-with-claude/extended-thinking */
const budgetTokensMin = 1024;

/** Undefined when no room is left for an answer of the same size. */
export const budgetOf = (level: Level, outputTokensMax: number): number | undefined =>
  outputTokensMax < 2 * budgetTokensMin
    ? undefined
    : Math.max(budgetTokensMin, Math.floor(outputTokensMax * shares[level]));

export const thinkingSettings = (
  { model, thinking: level, outputTokensMax, history }: ModelRequest,
  { replay, shown }: { readonly replay: Replay; readonly shown: ShownThinking },
): Pick<Anthropic.MessageCreateParamsStreaming, 'thinking' | 'output_config'> => {
  const kind = thinkingKind(model);
  if (level === undefined || shown === 'unset' || kind === 'none') return {};
  if (kind === 'adaptive') {
    if (level === 'off') return { thinking: { type: 'disabled' } };
    const display = shown === 'shown' ? { display: 'summarized' as const } : {};
    return { thinking: { type: 'adaptive', ...display }, output_config: { effort: level } };
  }
  const budget = level === 'off' ? undefined : budgetOf(level, outputTokensMax);
  if (budget === undefined || !beginsWithThoughts(history, replay)) return {};
  return { thinking: { type: 'enabled', budget_tokens: budget } };
};

/** True of an exchange without an answer as well. */
export const beginsWithThoughts = (history: readonly HistoryMessage[], replay: Replay): boolean => {
  const exchange = history.slice(history.findLastIndex(({ role }) => role === 'user') + 1);
  const first = exchange.find((message) => message.role === 'assistant');
  return first === undefined || replay(first)[0]?.kind === 'own';
};
