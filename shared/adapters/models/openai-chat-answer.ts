/**
 * A stream of chat chunks, read as one answer: text and thoughts at once, calls whole, then the end.
 *
 * Servers differ: some name no index or no id of a call, give every call the same index, or count no tokens. An answer
 * without a reason for its end was cut off: `provider_unavailable`.
 */
import type OpenAI from 'openai';
import type { CallId } from '#shared/domain/ids.ts';
import type { AnswerEnd, ModelChunk, TokenUsage } from '#shared/domain/model.ts';
import { said, tokenUsage } from './answer-parts.ts';
import { argsOf, parsedObject } from './call-arguments.ts';
import { thoughtFields } from './openai-chat-input.ts';
import { meanings, providerError } from './provider-errors.ts';
import { providerStateOf, type StatePart } from './provider-state.ts';
import type { AnswerReader, Readable } from './stream-answer.ts';

type Chunk = OpenAI.Chat.ChatCompletionChunk;
type Choice = OpenAI.Chat.ChatCompletionChunk.Choice;
/** `index` is missing on the wires of some servers. */
type CallDelta = Omit<OpenAI.Chat.ChatCompletionChunk.Choice.Delta.ToolCall, 'index'> & {
  readonly index?: number;
};
type OpenCall = { readonly index: number | undefined; id: string; name: string; json: string };

type Reading = {
  readonly calls: OpenCall[];
  readonly thoughts: Map<(typeof thoughtFields)[number], string>;
  textCharacters: number;
  isRefused: boolean;
  usage: OpenAI.CompletionUsage | undefined;
  reason: Choice['finish_reason'];
};

export const readChatAnswer = (readable: Readable): AnswerReader<Chunk> => {
  const reading: Reading = {
    ...{ calls: [], thoughts: new Map(), textCharacters: 0, isRefused: false },
    ...{ usage: undefined, reason: null },
  };
  return {
    take: (chunk) => take(reading, chunk),
    end: () => endChunks(reading, readable),
    usage: () => reading.usage && usageOf(reading.usage),
  };
};

const endChunks = (reading: Reading, { names, modelRef }: Readable): readonly ModelChunk[] => {
  if (reading.reason === null) throw providerError(meanings.brokenOff);
  const calls = reading.calls.filter((call, index) => isWhole(reading, call, index));
  const state = providerStateOf(modelRef, stateParts(reading, calls.length));
  return [
    ...calls.map(({ id, name, json }) => ({
      type: 'call' as const,
      ...(id === '' ? {} : { callId: id as CallId }),
      name: names.fromWire(name),
      args: json === '' ? {} : argsOf(json),
    })),
    { type: 'end', end: endOf(reading, calls.length), usage: usageOf(reading.usage), ...state },
  ];
};

/** Records one chunk, and returns the text and the thoughts in it. The chunk with the usage has no choice. */
const take = (reading: Reading, { choices, usage }: Chunk): readonly ModelChunk[] => {
  reading.usage = usage ?? reading.usage;
  const [choice] = choices ?? [];
  if (choice === undefined) return [];
  // Some servers send an empty reason, and null for what there is none of.
  reading.reason = choice.finish_reason || reading.reason;
  const { content, refusal, tool_calls: calls, ...more } = choice.delta ?? {};
  for (const call of calls ?? []) takeCall(reading, call);
  reading.isRefused ||= Boolean(refusal);
  const read = readContent(content);
  const text = `${read.text}${refusal ?? ''}`;
  reading.textCharacters += text.length;
  return [
    ...(read.thoughts === '' ? [] : [{ type: 'reasoning' as const, text: read.thoughts }]),
    ...takeThoughts(reading, more),
    ...said(text),
  ];
};

/** A server that gives both fields gives the same thoughts twice. */
const takeThoughts = ({ thoughts }: Reading, delta: object): readonly ModelChunk[] => {
  for (const field of thoughtFields) {
    const text: unknown = Reflect.get(delta, field);
    if (typeof text !== 'string' || text === '') continue;
    thoughts.set(field, (thoughts.get(field) ?? '') + text);
    return [{ type: 'reasoning', text }];
  }
  return [];
};

const takeCall = ({ calls }: Reading, { index, id, function: called }: CallDelta): void => {
  const known = calls.findLast((call) => call.index === index);
  const isNew = known === undefined || isAnother(known, { id, called });
  const call = isNew ? { index, id: '', name: '', json: '' } : known;
  if (isNew) calls.push(call);
  call.id = id || call.id;
  // Some servers send a name in pieces, others the whole name with each piece of the arguments.
  if (called?.name !== call.name) call.name += called?.name ?? '';
  call.json += called?.arguments ?? '';
};

/** Another id, or without one a name after a call that is whole, unless it only repeats that of the call. */
const isAnother = (
  known: OpenCall,
  { id, called }: { readonly id: string | undefined; readonly called: CallDelta['function'] },
): boolean => {
  if (id) return known.id !== '' && known.id !== id;
  const isRepeated = called?.name === known.name && !called.arguments;
  return Boolean(called?.name) && !isRepeated && parsedObject(known.json) !== undefined;
};

/** At the output limit, the call that was being written counts only if its arguments are complete. */
const isWhole = ({ reason, calls }: Reading, { json }: OpenCall, index: number): boolean =>
  reason !== 'length' || index < calls.length - 1 || parsedObject(json) !== undefined;

const endOf = ({ isRefused, reason }: Reading, calls: number): AnswerEnd => {
  if (isRefused || reason === 'content_filter') return 'refused';
  if (reason === 'length') return 'max_tokens';
  return calls > 0 ? 'tool_use' : 'end_turn';
};

const stateParts = ({ thoughts, textCharacters }: Reading, calls: number): readonly StatePart[] => [
  ...[...thoughts].map(([field, text]) => ({ own: { [field]: text } })),
  ...(textCharacters === 0 ? [] : [{ text: textCharacters }]),
  ...Array.from({ length: calls }, () => ({ call: true as const })),
];

const usageOf = (usage: OpenAI.CompletionUsage | undefined): TokenUsage =>
  tokenUsage({
    input: [usage?.prompt_tokens],
    output: [usage?.completion_tokens],
    cached: usage?.prompt_tokens_details?.cached_tokens,
    cacheWrite: usage?.prompt_tokens_details?.cache_write_tokens,
  });

/**
 * The content of a chat chunk: a text, or parts of which some are thoughts (https://docs.mistral.ai/capabilities/reasoning). Nothing of it
 * is checked by the SDK, whose type knows the text alone.
 */
type ChatContent = { readonly text: string; readonly thoughts: string };

const readContent = (content: unknown): ChatContent =>
  typeof content === 'string'
    ? { text: content, thoughts: '' }
    : { text: textsIn(content, 'text'), thoughts: textsIn(content, 'thinking') };

/** Texts of parts of one type; those of a thought are in parts of their own. Other parts say nothing. */
const textsIn = (parts: unknown, type: 'text' | 'thinking'): string =>
  (Array.isArray(parts) ? parts : [])
    .filter((part) => typeof part === 'object' && part !== null && Reflect.get(part, 'type') === type)
    .map((part): string => {
      const held: unknown = Reflect.get(part, type);
      return typeof held === 'string' ? held : textsIn(held, 'text');
    })
    .join('');
