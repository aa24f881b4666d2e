/** Requests that providers refuse for their tools, through each SDK: the failure names the tool. */
import { describe, expect, test } from 'vitest';
import type { MessageId } from '#shared/domain/ids.ts';
import type { ModelRequest } from '#shared/domain/model.ts';
import { makeAnthropicProvider } from './anthropic.ts';
import { answered, fakeWire } from './fixtures/fake-wire.ts';
import { makeGeminiProvider } from './gemini.ts';
import type { ModelBackend } from './model-backend.ts';
import { makeOpenAiProvider } from './openai.ts';

const request: ModelRequest = {
  ...{ model: 'm', system: '', outputTokensMax: 100 },
  history: [{ role: 'user', messageId: 'm' as MessageId, text: 'hi' }],
  tools: ['read', 'notes_create'].map((name) => ({
    name,
    description: name,
    inputSchema: { type: 'object' },
  })),
};
const failureOf = async (
  body: object,
  open: (baseUrl: string) => ModelBackend | Promise<ModelBackend>,
): Promise<unknown> => {
  const { url } = await fakeWire(answered(400, body));
  const provider = await open(url);
  return Array.fromAsync(provider.stream(request, new AbortController().signal)).catch(
    (error: unknown) => error,
  );
};
const named = {
  code: 'invalid_request',
  message: 'the model provider refuses the tool "notes_create": disable it, or the MCP server that offers it',
};

describe('the tool is named', () => {
  test('by anthropic', async () => {
    const message = 'tools.1.custom.input_schema: JSON schema is invalid';
    const error = { type: 'invalid_request_error', message };
    const failure = await failureOf({ type: 'error', error }, (baseUrl) =>
      makeAnthropicProvider({ auth: 'key', apiKey: 'k', baseUrl }),
    );
    expect(failure).toMatchObject(named);
  });

  test.each(['responses', 'chat'] as const)('by openai on its wire of %s', async (api) => {
    const message = "Invalid schema for function 'notes_create': array schema missing items.";
    const error = { message, param: 'tools[1].parameters', code: 'invalid_function_parameters' };
    const open = (baseUrl: string) => makeOpenAiProvider({ apiKey: 'k', baseUrl, api });
    expect(await failureOf({ error }, open)).toMatchObject(named);
  });

  test('by gemini', async () => {
    const message = 'Invalid value at tools[0].function_declarations[1].parameters_json_schema';
    const error = { code: 400, status: 'INVALID_ARGUMENT', message };
    const open = (baseUrl: string) => makeGeminiProvider({ apiKey: 'k', baseUrl });
    expect(await failureOf({ error }, open)).toMatchObject(named);
  });
});

describe('openai', () => {
  const open = (baseUrl: string) => makeOpenAiProvider({ apiKey: 'k', baseUrl });

  test('says how many tools it takes', async () => {
    const message =
      "Invalid 'tools': array too long. Expected an array with maximum length 1, but got an array with length 2 instead.";
    const error = { message, param: 'tools', code: 'array_above_max_length' };
    expect(await failureOf({ error }, open)).toMatchObject({
      code: 'invalid_request',
      message:
        'this model takes at most 1 tools, and the agent has 2: disable some, or MCP servers that offer them',
    });
  });

  test.each(['tools[7].parameters', 'input[3].content', undefined])(
    'leaves a refusal for %s as ours',
    async (param) => {
      const error = { message: 'Invalid value', param, code: 'invalid_value' };
      expect(await failureOf({ error }, open)).toMatchObject({ code: 'internal_error' });
    },
  );
});
