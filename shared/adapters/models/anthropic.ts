/**
 * Claude, through Anthropic's SDK: one streamed Messages request for each answer.
 *
 * Retries belong to the turn, which can tell its user and outlive this function. The SDK's are off: they
 * sleep for as long as a `retry-after` header says, without a bound. One quick second try stays, for a
 * request that failed before its answer began and was not told to wait: a connection that a frozen
 * function kept open is found dead only when it is used.
 */
import { setTimeout as pause } from 'node:timers/promises';
import Anthropic from '@anthropic-ai/sdk';
import { AppError } from '#shared/errors.ts';
import type { ModelProvider } from '#shared/ports/model-provider.ts';
import { answerChunks } from './anthropic-answer.ts';
import { translateError } from './anthropic-errors.ts';
import { messagesRequest } from './anthropic-messages.ts';
import { mapToolNames, type ToolNameRule } from './tool-names.ts';

/** Tool names match `^[a-zA-Z0-9_-]{1,128}$` (https://platform.claude.com/docs/en/agents-and-tools/tool-use). */
const toolNameRule: ToolNameRule = { refused: /[^a-zA-Z0-9_-]/gu, charactersMax: 128 };

/** Until an answer begins, in milliseconds; after that, fetch ends a body that is silent for five minutes. */
const answerStartMsMax = 120_000;
const secondTryPauseMs = 300;

export type AnthropicSettings = { readonly apiKey: string; readonly baseUrl?: string | undefined };

export const makeAnthropicProvider = ({ apiKey, baseUrl }: AnthropicSettings): ModelProvider => {
  const client = new Anthropic({
    apiKey: headerSafe(apiKey),
    // Said in full, since the SDK would otherwise look for it in the environment.
    baseURL: baseUrl ?? 'https://api.anthropic.com',
    maxRetries: 0,
    timeout: answerStartMsMax,
    // It would print parts of a conversation to the console.
    logLevel: 'off',
  });
  return {
    stream: (request, signal) => {
      const { tools, history } = request;
      const asked = history.flatMap((message) => (message.role === 'assistant' ? message.calls : []));
      const names = mapToolNames(
        [...tools, ...asked].map(({ name }) => name),
        toolNameRule,
      );
      return answerChunks(receive(client, messagesRequest(request, names), signal), names);
    },
  };
};

/** A key that no header can carry would be quoted whole in the error of who tried. */
const headerSafe = (apiKey: string): string => {
  const key = apiKey.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new AppError('provider_not_configured', 'ANTHROPIC_API_KEY has characters that no key has');
};

/** The one place that translates: whatever fails in here is the SDK or the wire. */
async function* receive(
  client: Anthropic,
  body: Anthropic.MessageCreateParamsStreaming,
  signal: AbortSignal,
): AsyncGenerator<Anthropic.RawMessageStreamEvent> {
  try {
    for await (const event of await begin(client, body, signal)) yield event;
  } catch (error) {
    signal.throwIfAborted();
    throw translateError(error, body.model);
  }
  // The SDK ends an aborted stream as if the answer were over.
  signal.throwIfAborted();
}

const begin = async (
  client: Anthropic,
  body: Anthropic.MessageCreateParamsStreaming,
  signal: AbortSignal,
): Promise<AsyncIterable<Anthropic.RawMessageStreamEvent>> => {
  const send = () => client.messages.create(body, { signal });
  try {
    return await send();
  } catch (error) {
    if (!isPassing(error)) throw error;
    await pause(secondTryPauseMs, undefined, { signal });
    return await send();
  }
};

const isPassing = (error: unknown): boolean => {
  if (error instanceof Anthropic.APIConnectionTimeoutError) return false;
  if (error instanceof Anthropic.APIConnectionError) return true;
  const { status, headers } = error instanceof Anthropic.APIError ? error : {};
  return status !== undefined && status >= 500 && headers?.get('retry-after') == null;
};
