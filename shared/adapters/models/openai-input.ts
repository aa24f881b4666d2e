/**
 * A model request as OpenAI's input: a flat list of items, calls and their results among them.
 *
 * Nothing is stored at OpenAI (`store: false`): the conversation stays here, and reasoning comes back encrypted
 * (https://developers.openai.com/api/docs/guides/reasoning). Long prefixes are cached automatically.
 */
import type OpenAI from 'openai';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { ModelRequest } from '#shared/domain/model.ts';
import { wellFormed } from './call-arguments.ts';
import { type Piece, replayOf } from './provider-state.ts';
import { isBlank, resultText, userText } from './spoken-text.ts';
import type { ToolNames } from './tool-names.ts';

type Item = OpenAI.Responses.ResponseInputItem;

export const responseRequest = (
  request: ModelRequest,
  names: ToolNames,
  { withState }: { readonly withState: boolean },
): OpenAI.Responses.ResponseCreateParamsStreaming => ({
  ...input(request, names, withState),
  max_output_tokens: request.outputTokensMax,
  store: false,
  stream: true,
});

/** Without the provider state of earlier answers, since a refusal for it would leave no count. */
export const countRequest = (
  request: ModelRequest,
  names: ToolNames,
): OpenAI.Responses.InputTokenCountParams => input(request, names, false);

const input = (
  { model, system, tools, history }: ModelRequest,
  { toWire }: ToolNames,
  withState: boolean,
) => ({
  model,
  ...(isBlank(system) ? {} : { instructions: system.toWellFormed() }),
  ...(tools.length === 0
    ? {}
    : {
        tools: tools.map(({ name, description, inputSchema }) => ({
          type: 'function' as const,
          name: toWire(name),
          description,
          parameters: inputSchema,
          // Strict schemas must require every property; those of MCP servers do not.
          strict: false,
        })),
      }),
  input: history.flatMap(
    itemsWith(toWire, replayOf(history, withState ? { provider: 'openai', model } : undefined)),
  ),
});

const itemsWith =
  (toWire: ToolNames['toWire'], replay: ReturnType<typeof replayOf>) =>
  (message: HistoryMessage): Item[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: userText(message.text) }];
      case 'assistant':
        return followed(replay(message).flatMap((piece) => itemOf(piece, toWire)));
      case 'tool':
        return [{ type: 'function_call_output', call_id: message.callId, output: resultText(message) }];
    }
  };

const itemOf = (piece: Piece, toWire: ToolNames['toWire']): Item[] => {
  switch (piece.kind) {
    case 'own':
      return [piece.block as unknown as OpenAI.Responses.ResponseReasoningItem];
    case 'text':
      return isBlank(piece.text)
        ? []
        : [{ role: 'assistant', content: piece.text.toWellFormed(), ...piece.mark }];
    case 'call': {
      const { callId, name, args } = piece.call;
      return [
        {
          type: 'function_call',
          call_id: callId,
          name: toWire(name),
          arguments: JSON.stringify(wellFormed(args)),
        },
      ];
    }
  }
};

/** Reasoning without the item that it led to is refused. */
const followed = (items: readonly Item[]): Item[] =>
  items.slice(0, items.findLastIndex((item) => item.type !== 'reasoning') + 1);
