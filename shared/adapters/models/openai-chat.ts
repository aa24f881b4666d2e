/**
 * Models behind the chat completions wire, through OpenAI's SDK: servers such as Ollama, vLLM and llama.cpp, and gateways.
 *
 * One streamed request for each answer. These servers count no tokens of a request, and many need no key.
 */
import type OpenAI from 'openai';
import { toolNamesOf } from './call-arguments.ts';
import type { ModelBackend } from './model-backend.ts';
import { readChatAnswer } from './openai-chat-answer.ts';
import { chatRequest } from './openai-chat-input.ts';
import {
  isPassing,
  isRefusedRequest,
  isRefusedState,
  isRefusedThinking,
  translateError,
} from './openai-errors.ts';
import { streamAnswer } from './stream-answer.ts';
import type { ToolNameRule } from './tool-names.ts';

export const streamChat =
  (client: OpenAI, rule: ToolNameRule): ModelBackend['stream'] =>
  (request, signal, caller) => {
    const names = toolNamesOf(request, rule);
    return streamAnswer<OpenAI.Chat.ChatCompletionChunk>(
      {
        provider: 'openai',
        send: (sending, heard) =>
          client.chat.completions.create(chatRequest(request, names, sending), { signal: heard }),
        read: (modelRef) => readChatAnswer({ names, modelRef }),
        isPassing,
        isRefusedThinking,
        isRefusedState,
        isRefusedRequest,
        translate: (error) => translateError(error, request.model),
      },
      request,
      { signal, ...caller },
    );
  };
