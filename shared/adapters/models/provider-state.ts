/**
 * Provider state: signed or encrypted thinking that a provider wants back beside its own answer while an exchange
 * goes on, at its position between the answer's text and calls.
 *
 * It repeats neither text nor arguments, only the length of each text and the position of each call. It goes back
 * only to the model that gave it, in the exchange it came from: Claude refuses thinking whose earlier
 * conversation has changed, and truncation drops the oldest. An answer to a request without the earlier states is
 * marked `alone`, so that those are not tried again.
 */

import type { HistoryMessage } from '#shared/domain/history.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { ProviderName } from '#shared/domain/model.ts';
import type { RequestedCall } from '#shared/domain/requested-call.ts';
import { utf8Bytes } from '#shared/domain/text.ts';

export type ModelRef = {
  readonly provider: ProviderName;
  readonly model: string;
  readonly withoutHistory: boolean;
};

/** One part of an answer in the order it came: `text` counts characters, `mark` belongs to its part. */
export type StatePart =
  | { readonly text: number; readonly mark?: JsonObject }
  | { readonly call: true; readonly mark?: JsonObject }
  | { readonly own: JsonObject };

/** A part of an answer as it goes back. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string; readonly mark?: JsonObject }
  | { readonly kind: 'call'; readonly call: RequestedCall; readonly mark?: JsonObject }
  | { readonly kind: 'own'; readonly block: JsonObject };

type AnswerMessage = Extract<HistoryMessage, { role: 'assistant' }>;
type ProviderState = ModelRef & { readonly parts: readonly StatePart[] };

/** Provider state is stored beside its answer; a longer one is left out. */
export const providerStateBytesMax = 64 * 1024;

/** To be spread into the end of an answer: empty when plain text and calls are the whole answer. */
export const providerStateOf = (
  modelRef: ModelRef,
  parts: readonly StatePart[],
): { readonly providerState?: JsonObject } => {
  if (!parts.some((part) => 'own' in part || part.mark !== undefined)) return {};
  const providerState = { ...modelRef, parts: joinedTexts(parts) } satisfies ProviderState;
  return utf8Bytes(JSON.stringify(providerState)) > providerStateBytesMax ? {} : { providerState };
};

/** Texts stream in many pieces; those without a mark of their own are one. */
const joinedTexts = (parts: readonly StatePart[]): readonly StatePart[] => {
  const joined: StatePart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if ('text' in part && part.mark === undefined && last && 'text' in last && last.mark === undefined)
      joined[joined.length - 1] = { text: last.text + part.text };
    else joined.push(part);
  }
  return joined;
};

/** The form in which each answer of a history goes back; without a maker, all of them as plain text and calls. */
export const replayOf = (
  history: readonly HistoryMessage[],
  modelRef: Omit<ModelRef, 'withoutHistory'> | undefined,
): ((message: AnswerMessage) => readonly Piece[]) => {
  const withState = new Set<HistoryMessage>(modelRef === undefined ? [] : history.slice(stateFrom(history)));
  return (message) =>
    (modelRef !== undefined && withState.has(message) && withOwnState(message, modelRef)) || plain(message);
};

export const hasProviderState = (history: readonly HistoryMessage[]): boolean =>
  history.slice(stateFrom(history)).some((message) => stateIn(message) !== undefined);

const stateFrom = (history: readonly HistoryMessage[]): number =>
  history.findLastIndex((message) => message.role === 'user' || stateIn(message)?.withoutHistory === true);

const stateIn = (message: HistoryMessage): ProviderState | undefined =>
  message.role === 'assistant' ? (message.providerState as ProviderState | undefined) : undefined;

const plain = ({ text, calls }: AnswerMessage): readonly Piece[] => [
  ...(text === '' ? [] : [{ kind: 'text' as const, text }]),
  ...calls.map((call) => ({ kind: 'call' as const, call })),
];

/** Undefined for another model's state, and for one that does not fit the answer beside it. */
const withOwnState = (
  message: AnswerMessage,
  { provider, model }: Omit<ModelRef, 'withoutHistory'>,
): readonly Piece[] | undefined => {
  const providerState = stateIn(message);
  if (providerState?.provider !== provider || providerState.model !== model) return undefined;
  const characters = providerState.parts.reduce((sum, part) => sum + ('text' in part ? part.text : 0), 0);
  const calls = providerState.parts.filter((part) => 'call' in part).length;
  if (characters !== message.text.length || calls < message.calls.length) return undefined;
  return restored(message, providerState.parts);
};

/** A turn takes a limited number of calls from one answer, the first ones: the others are not repeated. */
const restored = ({ text, calls }: AnswerMessage, parts: readonly StatePart[]): readonly Piece[] => {
  let said = 0;
  let asked = 0;
  return parts.flatMap((part): Piece[] => {
    if ('own' in part) return [{ kind: 'own', block: part.own }];
    const marked = part.mark === undefined ? {} : { mark: part.mark };
    if ('text' in part) {
      said += part.text;
      return [{ kind: 'text', text: text.slice(said - part.text, said), ...marked }];
    }
    const call = calls[asked];
    asked += 1;
    return call === undefined ? [] : [{ kind: 'call', call, ...marked }];
  });
};
