/**
 * Parts of an answer that several wires share: text and thoughts as chunks, counts of tokens, and the numbered blocks of Claude.
 *
 * Calls are emitted after the reason of the end is known, since a call that the output limit cut off must not run with half of its
 * arguments. An answer without a reason was cut off: `provider_unavailable`.
 */
import type { CallId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { AnswerEnd, ModelChunk, TokenUsage } from '#shared/domain/model.ts';
import { argsOf, parsedObject } from './call-arguments.ts';
import { meanings, providerError } from './provider-errors.ts';
import { providerStateOf, type StatePart } from './provider-state.ts';
import type { AnswerReader, Readable } from './stream-answer.ts';

export const said = (text: string): readonly ModelChunk[] => (text === '' ? [] : [{ type: 'text', text }]);

export type ThoughtsReader = (part: string | number, text: string) => readonly ModelChunk[];

/** The thoughts of one answer are one text: they come in parts, with a blank line between two of them. */
export const readThoughts = (): ThoughtsReader => {
  let newest: string | number | undefined;
  return (part, text) => {
    if (text === '') return [];
    const gap = newest === undefined || newest === part ? '' : '\n\n';
    newest = part;
    return [{ type: 'reasoning', text: gap + text }];
  };
};

type Count = number | null | undefined;

/** A turn pays for the sum of `input` and the sum of `output`; the cache's part is told where there is any. */
export const tokenUsage = (counts: {
  readonly input: readonly Count[];
  readonly output: readonly Count[];
  readonly cached: Count;
  readonly cacheWrite?: Count;
}): TokenUsage => ({
  inputTokens: sum(counts.input),
  outputTokens: sum(counts.output),
  ...(counts.cached ? { cachedInputTokens: counts.cached } : {}),
  ...(counts.cacheWrite ? { cacheWriteInputTokens: counts.cacheWrite } : {}),
});

const sum = (counts: readonly Count[]): number =>
  counts.reduce<number>((all, count) => all + (count ?? 0), 0);

/** Signed thinking, or thinking that the provider alone can read: in base64 or as bytes of a text. */
export type OwnBlock =
  | { readonly kind: 'thinking'; text: string; signature: string }
  | { readonly kind: 'redacted'; data: string };
type Block =
  | OwnBlock
  /** `args` are those of a call that streams none. */
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly name: string;
      readonly args: JsonObject;
      json: string;
    }
  | { readonly kind: 'text'; characters: number };

/** An answer so far, in blocks by their index; those that mean nothing here are left out. */
export type BlockAnswer<U, R> = {
  readonly blocks: Map<number, Block>;
  readonly thoughts: ThoughtsReader;
  usage: U | undefined;
  reason: R | undefined;
};

type BlockWire<E, U, R> = {
  /** Records one event, and returns the text or the thoughts in it. */
  readonly take: (answer: BlockAnswer<U, R>, event: E) => readonly ModelChunk[];
  readonly endOf: (reason: R) => AnswerEnd;
  readonly usageOf: (usage: U | undefined) => TokenUsage;
  /** The form in which the provider wants a block of its own back. */
  readonly ownBlock: (block: OwnBlock) => JsonObject;
};

export const readBlocks =
  <E, U, R>({ take, endOf, usageOf, ownBlock }: BlockWire<E, U, R>) =>
  ({ names, modelRef }: Readable): AnswerReader<E> => {
    const answer: BlockAnswer<U, R> = {
      ...{ blocks: new Map(), thoughts: readThoughts() },
      ...{ usage: undefined, reason: undefined },
    };
    return {
      take: (event) => take(answer, event),
      usage: () => answer.usage && usageOf(answer.usage),
      end: () => {
        if (answer.reason === undefined) throw providerError(meanings.brokenOff);
        const end = endOf(answer.reason);
        const blocks = wholeBlocks([...answer.blocks.values()], end);
        const calls = blocks.flatMap((block): ModelChunk[] => {
          if (block.kind !== 'call') return [];
          const args = block.json === '' ? block.args : argsOf(block.json);
          return [{ type: 'call', callId: block.id as CallId, name: names.fromWire(block.name), args }];
        });
        const state = providerStateOf(modelRef, stateParts(blocks, ownBlock));
        return [...calls, { type: 'end', end, usage: usageOf(answer.usage), ...state }];
      },
    };
  };

/** A block may grow without a start of its own. */
export const grown = <B extends Block>(blocks: Map<number, Block>, index: number, fresh: B): B => {
  const known = blocks.get(index);
  if (known?.kind === fresh.kind) return known as B;
  blocks.set(index, fresh);
  return fresh;
};

export const takeText = ({ blocks }: BlockAnswer<unknown, unknown>, index: number, text: string) => {
  grown(blocks, index, { kind: 'text', characters: 0 }).characters += text.length;
  return said(text);
};

export const takeThought = (
  { blocks, thoughts }: BlockAnswer<unknown, unknown>,
  index: number,
  {
    text = '',
    signature = '',
  }: { readonly text?: string | undefined; readonly signature?: string | undefined },
) => {
  const block = grown(blocks, index, { kind: 'thinking', text: '', signature: '' });
  block.text += text;
  block.signature += signature;
  return thoughts(index, text);
};

export const takeArgs = (
  { blocks }: BlockAnswer<unknown, unknown>,
  index: number,
  json = '',
): readonly [] => {
  const call = blocks.get(index);
  if (call?.kind === 'call') call.json += json;
  return [];
};

/** At the output limit, the call that was being written counts only if its arguments are complete. */
const wholeBlocks = (blocks: readonly Block[], end: AnswerEnd): readonly Block[] => {
  const last = blocks.at(-1);
  const isCut = end === 'max_tokens' && last?.kind === 'call' && parsedObject(last.json) === undefined;
  return isCut ? blocks.slice(0, -1) : blocks;
};

/** Thinking that was cut before its signature is refused, and so is the thinking beside it; models that sign nothing want nothing back. */
const stateParts = (
  blocks: readonly Block[],
  ownBlock: (block: OwnBlock) => JsonObject,
): readonly StatePart[] => {
  if (blocks.some((block) => block.kind === 'thinking' && block.signature === '')) return [];
  return blocks.map((block) => {
    if (block.kind === 'call') return { call: true };
    return block.kind === 'text' ? { text: block.characters } : { own: ownBlock(block) };
  });
};
