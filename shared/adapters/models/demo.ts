/**
 * The demo provider: no key, no language model, deterministic. It reads a message as a small script, asks for the
 * calls it names, and answers with their results.
 *
 * `demo-script.ts` defines the script; any other message is answered with how to use it.
 */

import type { AskedCall } from '#shared/domain/asked-call.ts';
import { estimateTokens, type HistoryMessage } from '#shared/domain/history.ts';
import type { MessageId } from '#shared/domain/ids.ts';
import { answerTextBytesMax } from '#shared/domain/limits.ts';
import type { ModelChunk } from '#shared/domain/model.ts';
import { cutMiddle, utf8Bytes } from '#shared/domain/text.ts';
import { describeCall, scriptedCalls } from './demo-script.ts';
import type { ModelBackend } from './model-backend.ts';

type Result = Extract<HistoryMessage, { role: 'tool' }>;

export const demoProvider: ModelBackend = {
  async *stream({ history, tools }, signal) {
    signal.throwIfAborted();
    const inputTokens = history.reduce((sum, message) => sum + estimateTokens(message), 0);
    const exchange = history.slice(history.findLastIndex(({ role }) => role === 'user'));
    const results = exchange.filter((message) => message.role === 'tool');
    const message = exchange[0]?.role === 'user' ? exchange[0].text : '';
    const calls = scriptedCalls(message, new Set(tools.map(({ name }) => name)));
    if (results.length === 0 && calls.length > 0) {
      for (const call of calls) yield { type: 'call', ...call };
      const usage = { inputTokens, outputTokens: tokensOf(JSON.stringify(calls)) };
      yield { type: 'end', end: 'tool_use', usage };
      return;
    }
    const text =
      results.length === 0 ? howToUse : answerTo(exchange, results) + leftOut(calls.length - results.length);
    yield* spoken(text, signal);
    yield { type: 'end', end: 'end_turn', usage: { inputTokens, outputTokens: tokensOf(text) } };
  },
  listModels: async () => [{ id: 'demo', name: 'Demo' }],
  hasModel: async (id) => id === 'demo',
};

const howToUse = [
  'This is the demo provider, no language model. It runs what you write:',
  'a line `$ <command>` runs a command, a fenced python or node block runs code,',
  '`read <path>`, `write <path> <text>` and `list [path]` at the start of a line work with files,',
  'and `call <tool> {"argument": …}` calls any tool by its name, those of registered MCP servers included.',
].join('\n');

/** A turn takes a limited number of calls from one answer; the text names the number of the others. */
const leftOut = (calls: number): string =>
  calls > 0 ? `\n\n${calls} more calls of this message were left out: send them again.` : '';

/** Repeats every result whole; where that exceeds one answer, each result has an equal share. */
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
  { call, text }: { readonly call: AskedCall | undefined; readonly text: string },
): string => {
  const what = call === undefined ? name : describeCall(call);
  switch (outcome) {
    case 'completed':
      return `${what} gave:\n${text}`;
    case 'failed':
      return `${what} failed:\n${text}`;
    case 'rejected':
      return `${what} was rejected:\n${text}`;
  }
};

/** One word at a time, as a model streams; a very long word comes in pieces of whole code points. */
async function* spoken(text: string, signal: AbortSignal): AsyncGenerator<ModelChunk> {
  for (const [piece] of text.matchAll(/\S{1,64}\s*|\s+/gu)) {
    signal.throwIfAborted();
    yield { type: 'text', text: piece };
  }
}

const tokensOf = (text: string): number =>
  estimateTokens({ role: 'user', messageId: 'demo' as MessageId, text });
