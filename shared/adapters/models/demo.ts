/**
 * The demo provider: no key, no language model, deterministic. It reads a message as a small script, asks for the
 * calls it names, and answers with a sentence about each result. At a level of thinking it says beforehand how it read
 * the message.
 *
 * `demo-script.ts` defines the script; any other message is answered with how to use it.
 */

import {
  charactersPerToken,
  estimateHistory,
  estimateTokens,
  type HistoryImage,
  type HistoryMessage,
} from '#shared/domain/history.ts';
import type { MessageId } from '#shared/domain/ids.ts';
import { answerTextBytesMax } from '#shared/domain/limits.ts';
import type { ModelChunk, ThinkingLevel } from '#shared/domain/model.ts';
import { answerTokensDefault } from '#shared/domain/price.ts';
import type { RequestedCall } from '#shared/domain/requested-call.ts';
import { cutMiddle, utf8Bytes } from '#shared/domain/text.ts';
import { isNotice } from '#shared/domain/turn/saved-files.ts';
import { describeCall, type ScriptedCall, scriptedCalls, scriptedThoughts } from './demo-script.ts';
import type { ModelBackend } from './model-backend.ts';

type Result = Extract<HistoryMessage, { role: 'tool' }>;

export const demoProvider: ModelBackend = {
  async *stream({ history, tools, thinking, outputTokensMax }, signal, { onUsage } = {}) {
    signal.throwIfAborted();
    const inputTokens = estimateHistory(history);
    onUsage?.({ inputTokens, outputTokens: 0 });
    const asked = history.findLastIndex((one) => one.role === 'user' && !isNotice(one));
    const exchange = history.slice(Math.max(0, asked));
    const notices = exchange.flatMap((one) => (one.role === 'user' && isNotice(one) ? [one.text] : []));
    const results = exchange.filter((message) => message.role === 'tool');
    const { text: message = '', images = [] } = exchange[0]?.role === 'user' ? exchange[0] : {};
    const calls = scriptedCalls(message, new Set(tools.map(({ name }) => name)));
    const room = roomOf(outputTokensMax);
    const thoughts = thinking === 'off' ? '' : cut(thoughtsOf(message, { calls, results, thinking }), room);
    yield* spoken('reasoning', thoughts, signal);
    if (results.length === 0 && calls.length > 0) {
      const fitting = fittingCalls(calls, room - thoughts.length);
      for (const call of fitting) yield { type: 'call', ...call };
      const usage = { inputTokens, outputTokens: tokensOf(thoughts + callsText(fitting)) };
      yield { type: 'end', end: fitting.length < calls.length ? 'max_tokens' : 'tool_use', usage };
      return;
    }
    const answer =
      results.length === 0 ? howToUse : answerTo(exchange, results) + leftOut(calls.length - results.length);
    const whole = [...images.map(describeImage), [answer, ...notices].join('\n\n')].join('\n');
    const text = cut(whole, room - thoughts.length);
    yield* spoken('text', text, signal);
    const usage = { inputTokens, outputTokens: tokensOf(thoughts + text) };
    yield { type: 'end', end: text.length < whole.length ? 'max_tokens' : 'end_turn', usage };
  },
  listModels: async () => [{ id: 'demo', name: 'Demo' }],
  hasModel: async (id) => id === 'demo',
};

const howToUse = [
  'This is the demo provider, no language model. It runs what you write:',
  'a line `$ <command>` runs a command, a fenced python or node block runs code,',
  '`read <path>`, `write <path> <text>` and `list [path]` at the start of a line work with files,',
  '`call <tool> {"argument": …}` calls any tool by its name, those of registered MCP servers included,',
  'and `think <text>` shows the text as reasoning.',
].join('\n');

/** Characters of an answer. A bound below the default is the operator's, or of a budget; the default cuts no result. */
const roomOf = (outputTokensMax: number): number =>
  outputTokensMax < answerTokensDefault ? outputTokensMax * charactersPerToken : Number.POSITIVE_INFINITY;

/** Ends at a whole code point. */
const cut = (text: string, charactersMax: number): string =>
  text.length <= charactersMax
    ? text
    : text.slice(0, Math.max(0, charactersMax)).replace(/[\uD800-\uDBFF]$/, '');

const callsText = (calls: readonly ScriptedCall[]): string =>
  calls.length === 0 ? '' : JSON.stringify(calls);

/** The first of them; a call that does not fit whole is none. */
const fittingCalls = (calls: readonly ScriptedCall[], charactersMax: number): readonly ScriptedCall[] => {
  const tooLong = calls.findIndex((_, index) => callsText(calls.slice(0, index + 1)).length > charactersMax);
  return tooLong === -1 ? calls : calls.slice(0, tooLong);
};

const describeImage = ({ mimeType, data }: HistoryImage): string =>
  `An image came with the message: ${mimeType}, ${Buffer.byteLength(data, 'base64')} bytes.`;
/** The script's own, and at a level of thinking those about the script. */
const thoughtsOf = (
  message: string,
  {
    calls,
    results,
    thinking,
  }: {
    readonly calls: readonly ScriptedCall[];
    readonly results: readonly Result[];
    readonly thinking: ThinkingLevel | undefined;
  },
): string => {
  const scripted = results.length === 0 ? scriptedThoughts(message) : [];
  return [...scripted, ...(thinking === undefined ? [] : aboutScript(calls, results))].join('\n');
};

const aboutScript = (calls: readonly ScriptedCall[], results: readonly Result[]): readonly string[] => {
  if (results.length > 0)
    return [`Calls that have ended: ${results.length}. The answer says what they gave.`];
  if (calls.length === 0) return ['The message asks for no call, so the answer says what can be asked for.'];
  return [
    'The message asks for these calls, in this order:',
    ...calls.map((call) => `- ${describeCall(call)}`),
  ];
};

/** A turn takes a limited number of calls from one answer; the text names the number of the others. */
const leftOut = (calls: number): string =>
  calls > 0 ? `\n\n${calls} more calls of this message were left out: send them again.` : '';

/** Holds every result whole; where that exceeds one answer, each result has an equal share. */
const answerTo = (exchange: readonly HistoryMessage[], results: readonly Result[]): string => {
  const said = parts(exchange, results, (text) => text).join('\n\n');
  if (utf8Bytes(said) <= answerTextBytesMax) return said;
  // Half of the room for the text around the results; a UTF-16 unit takes at most three bytes.
  const shareCharacters = Math.floor(answerTextBytesMax / 2 / 3 / results.length);
  return parts(exchange, results, (text) => cutMiddle(text, shareCharacters)).join('\n\n');
};

/** In the order of the calls: results arrive as they finish. */
const parts = (
  exchange: readonly HistoryMessage[],
  results: readonly Result[],
  shown: (text: string) => string,
): readonly string[] => {
  const asked = exchange.flatMap((message) => (message.role === 'assistant' ? message.calls : []));
  const place = ({ callId }: Result): number => asked.findIndex((call) => call.callId === callId);
  return results
    .toSorted((one, other) => place(one) - place(other))
    .map((result) => part(result, { call: asked[place(result)], text: shown(result.text) }));
};

const part = (
  { name, outcome }: Result,
  { call, text }: { readonly call: RequestedCall | undefined; readonly text: string },
): string => {
  const subject = call === undefined ? name : describeCall(call);
  switch (outcome) {
    case 'completed':
      return `${subject} gave ${quoted(text)}`;
    case 'failed':
      return `${subject} failed: ${quoted(text)}`;
    case 'rejected':
      return `${subject} was rejected: ${quoted(text)}`;
  }
};

/** A result of this many characters stands in the sentence. */
const sentenceCharactersMax = 100;

/** A short line as a part of the sentence; more than that in a fence of its own, which clients that show outputs fold. */
const quoted = (text: string): string => {
  const lines = text.replace(/\n$/, '').split('\n');
  const [line = ''] = lines;
  if (text.trim() === '') return 'no output.';
  if (lines.length === 1 && line.length <= sentenceCharactersMax && !line.includes('`'))
    return `\`${line}\`.`;
  const fence = '`'.repeat(1 + Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length)));
  const count = lines.length === 1 ? '1 line' : `${lines.length} lines`;
  return `${count}:\n\n${fence}output\n${text.endsWith('\n') ? text : `${text}\n`}${fence}`;
};

/** One word at a time, as a model streams; a very long word comes in pieces of whole code points. */
async function* spoken(
  type: 'text' | 'reasoning',
  text: string,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk> {
  for (const [piece] of text.matchAll(/\S{1,64}\s*|\s+/gu)) {
    signal.throwIfAborted();
    yield { type, text: piece };
  }
}

const tokensOf = (text: string): number =>
  estimateTokens({ role: 'user', messageId: 'demo' as MessageId, text });
