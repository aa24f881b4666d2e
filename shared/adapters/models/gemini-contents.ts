/**
 * A model request as Gemini's contents: parts, calls in one content and all their results in the next.
 *
 * Results stand in the order of their calls, and nothing else stands between: Gemini counts them. Since Gemini 3
 * a call must carry the signature that came with it; one whose signature is unknown carries the placeholder that
 * Google documents for it (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
import {
  type Content,
  ThinkingLevel as GeminiLevel,
  type GenerateContentConfig,
  type Part,
} from '@google/genai';
import type { HistoryImage, HistoryMessage } from '#shared/domain/history.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { ModelRequest } from '#shared/domain/model.ts';
import { wellFormed } from './call-arguments.ts';
import { isBlank, resultText, userText } from './history-text.ts';
import { type Piece, replayOf } from './provider-state.ts';
import { type ImagesOf, shownImages } from './request-images.ts';
import type { Sending, ShownThinking } from './stream-answer.ts';
import type { ToolNames } from './tool-names.ts';
import { takenTool } from './tool-schemas.ts';

type Result = Extract<HistoryMessage, { role: 'tool' }>;

const unsigned = { thoughtSignature: 'skip_thought_signature_validator' };
const modelsWithoutSignatures = /^(models\/)?gemini-[12]\b/;

export const contentsOf = (
  { model, history }: ModelRequest,
  { toWire }: ToolNames,
  { withState, withImages }: Omit<Sending, 'thinking'>,
): Content[] => {
  const replay = replayOf(history, withState ? { provider: 'gemini', model } : undefined);
  const imagesOf = shownImages(history, withImages);
  const isNested = !modelsWithoutSignatures.test(model);
  const fallback = modelsWithoutSignatures.test(model) ? {} : unsigned;
  const contentAt = (message: HistoryMessage, index: number): Content => {
    switch (message.role) {
      case 'user':
        return {
          role: 'user',
          parts: [{ text: userText(message.text) }, ...imagesOf(message).filter(isTaken).map(imagePart)],
        };
      case 'assistant':
        return {
          role: 'model',
          parts: signed(
            replay(message).flatMap((piece) => partOf(piece, toWire)),
            fallback,
          ),
        };
      case 'tool':
        return {
          role: 'user',
          parts: resultParts(resultsFrom(history, index), { toWire, imagesOf, isNested }),
        };
    }
  };
  return history.map(contentAt).filter(({ parts = [] }) => parts.length > 0);
};

export const configOf = (
  { system, tools, outputTokensMax }: ModelRequest,
  { toWire }: ToolNames,
): GenerateContentConfig => ({
  maxOutputTokens: outputTokensMax,
  ...(isBlank(system) ? {} : { systemInstruction: { parts: [{ text: system.toWellFormed() }] } }),
  ...(tools.length === 0
    ? {}
    : {
        tools: [
          {
            functionDeclarations: tools.map(takenTool).map(({ name, description, inputSchema }) => ({
              name: toWire(name),
              description,
              parametersJsonSchema: inputSchema,
            })),
          },
        ],
      }),
});

const partOf = (piece: Piece, toWire: ToolNames['toWire']): Part[] => {
  switch (piece.kind) {
    case 'own':
      return [piece.block as Part];
    case 'text':
      return piece.text === '' && piece.mark === undefined
        ? []
        : [{ text: piece.text.toWellFormed(), ...piece.mark }];
    case 'call': {
      const { callId, name, args } = piece.call;
      return [{ functionCall: { id: callId, name: toWire(name), args: wellFormed(args) }, ...piece.mark }];
    }
  }
};

/** The first of parallel calls carries the signature. */
const signed = (parts: readonly Part[], fallback: Part): Part[] => {
  const first = parts.findIndex(({ functionCall }) => functionCall !== undefined);
  return parts.map((part, index) => (index === first ? { ...fallback, ...part } : part));
};

/** All results of a queue go with the first of them, and none with the others. */
const resultsFrom = (history: readonly HistoryMessage[], from: number): readonly Result[] => {
  const asked = history[from - 1];
  if (asked?.role === 'tool') return [];
  const behind = history.slice(from);
  const end = behind.findIndex(({ role }) => role !== 'tool');
  const results = (end === -1 ? behind : behind.slice(0, end)) as readonly Result[];
  const calls = asked?.role === 'assistant' ? asked.calls : [];
  const place = ({ callId }: Result): number => calls.findIndex((call) => call.callId === callId);
  return results.toSorted((one, other) => place(one) - place(other));
};

type ResultOptions = Pick<ToolNames, 'toWire'> & { readonly imagesOf: ImagesOf; readonly isNested: boolean };

/**
 * Since Gemini 3 images are parts of their result (https://ai.google.dev/gemini-api/docs/function-calling, "Multimodal
 * function responses"); before, they follow all results.
 */
const resultParts = (results: readonly Result[], { toWire, imagesOf, isNested }: ResultOptions): Part[] => {
  const images = results.map((result) => imagesOf(result).filter(isTaken).map(imagePart));
  const answers = results.map((result, index) => ({
    functionResponse: {
      id: result.callId,
      name: toWire(result.name),
      response: answerOf(result),
      ...(isNested && images[index]?.length ? { parts: images[index] } : {}),
    },
  }));
  return [...answers, ...(isNested ? [] : images.flat())];
};

/** Gemini takes no GIF (https://ai.google.dev/gemini-api/docs/image-understanding). */
const isTaken = ({ mimeType }: HistoryImage): boolean => mimeType !== 'image/gif';
const imagePart = ({ mimeType, data }: HistoryImage) => ({ inlineData: { mimeType, data } });

const answerOf = (result: Result): JsonObject =>
  result.outcome === 'completed' ? { output: resultText(result) } : { error: resultText(result) };

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

/**
 * Thinking (https://ai.google.dev/gemini-api/docs/thinking): since Gemini 3 a model has levels, of which `MINIMAL` is the lowest; 2.5 has
 * a budget of tokens, within those of the answer; earlier models do not think, and are told nothing.
 */
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
