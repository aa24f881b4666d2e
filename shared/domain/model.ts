/**
 * The request of a turn to a language model and its answer, independent of the provider.
 *
 * A provider adapter translates; the reducer sees only whole answers.
 */

import type { HistoryMessage } from './history.ts';
import type { CallId } from './ids.ts';
import type { JsonObject } from './json.ts';

export const providers = ['anthropic', 'openai', 'gemini', 'bedrock', 'demo'] as const;
export type ProviderName = (typeof providers)[number];

/** One default per provider; the provider itself lists which models exist. */
export const defaultModels: Record<ProviderName, string> = {
  anthropic: 'claude-opus-5-5',
  openai: 'gpt-6.1-sol',
  gemini: 'gemini-3.8-flash',
  // By an inference profile: newer models take no request without one.
  bedrock: 'global.anthropic.claude-opus-5-5',
  demo: 'demo',
};

const providerAliases: Record<string, ProviderName> = {
  claude: 'anthropic',
  chatgpt: 'openai',
  google: 'gemini',
};

export const decodeProvider = (given: string): ProviderName | undefined => {
  const name = given.toLowerCase();
  const alias = Object.hasOwn(providerAliases, name) ? providerAliases[name] : undefined;
  return alias ?? providers.find((provider) => provider === name);
};

/** Levels of thinking before an answer; `off`: none, where the model can be told so. */
export const thinkingLevels = ['off', 'low', 'medium', 'high'] as const;
export type ThinkingLevel = (typeof thinkingLevels)[number];

export type ListedModel = { readonly id: string; readonly name: string };

export type ModelAvailability = 'available' | 'not_found' | `error: ${string}`;

export type ToolSpec = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
};

export type ModelRequest = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly history: readonly HistoryMessage[];
  readonly outputTokensMax: number;
  /** Absent: as the model thinks by itself. */
  readonly thinking?: ThinkingLevel;
};

export type TokenUsage = {
  /** All of the input, whatever was read from a cache or written to it. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of the input that the provider read from its cache. */
  readonly cachedInputTokens?: number;
  /** The part of the input that the provider wrote to its cache, which some charge for. */
  readonly cacheWriteInputTokens?: number;
};

export const noUsage: TokenUsage = { inputTokens: 0, outputTokens: 0 };

/** The reason for which a model ended its answer; `tool_use` when it asks for tools. */
export type AnswerEnd = 'end_turn' | 'max_tokens' | 'tool_use' | 'refused';

export type ModelChunk =
  | { readonly type: 'text'; readonly text: string }
  /** Thoughts that the provider shows: no part of the answer. */
  | { readonly type: 'reasoning'; readonly text: string }
  /** A whole call: arguments are emitted only when complete. */
  | { readonly type: 'call'; readonly callId?: CallId; readonly name: string; readonly args: JsonObject }
  | {
      readonly type: 'end';
      readonly end: AnswerEnd;
      readonly usage: TokenUsage;
      /**
       * State that the provider wants back beside this answer while its exchange goes on, such as signed
       * thinking. Only the provider that gave it reads it; without it the conversation still goes on.
       */
      readonly providerState?: JsonObject;
    };
