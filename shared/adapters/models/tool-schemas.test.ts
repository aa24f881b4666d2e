/** Schemas that MCP allows and providers refuse, as each wire is given them. */
import { describe, expect, test } from 'vitest';
import type { MessageId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { messagesRequest } from './anthropic-messages.ts';
import { converseInput } from './bedrock-input.ts';
import { configOf } from './gemini-contents.ts';
import { chatRequest } from './openai-chat-input.ts';
import { responseRequest } from './openai-input.ts';
import { mapToolNames } from './tool-names.ts';
import { takenTool } from './tool-schemas.ts';

const toolOf = (inputSchema: JsonObject) => ({ name: 'attach', description: 'Attaches.', inputSchema });
const taken = (inputSchema: JsonObject) => takenTool(toolOf(inputSchema)).inputSchema;

describe('every wire', () => {
  const request = (inputSchema: JsonObject) => ({
    ...{ model: 'm', system: '', tools: [toolOf(inputSchema)], outputTokensMax: 100 },
    history: [{ role: 'user', messageId: 'm' as MessageId, text: 'hi' }] as const,
  });
  const names = mapToolNames(['attach'], { refused: /[^\w-]/gu, charactersMax: 64 });
  const sending = { withState: true, withImages: true, thinking: 'unset' } as const;
  const wires: Readonly<Record<string, (schema: JsonObject) => unknown>> = {
    anthropic: (schema) => messagesRequest(request(schema), names).tools,
    bedrock: (schema) => converseInput(request(schema), names, sending).toolConfig,
    gemini: (schema) => configOf(request(schema), names).tools,
    openai: (schema) => responseRequest(request(schema), names, sending).tools,
    chat: (schema) => chatRequest(request(schema), names, sending).tools,
  };

  test.each(Object.keys(wires))('%s has the arguments of a tool without any', (wire) => {
    const sent = JSON.stringify(wires[wire]?.({ type: 'object' }));
    expect(sent).toContain('{"type":"object","properties":{}}');
  });

  test.each(Object.keys(wires))('%s has one form of the arguments', (wire) => {
    const url = { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] };
    const sent = JSON.stringify(wires[wire]?.({ type: 'object', anyOf: [url] }));
    expect(sent).toContain('{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]}');
  });
});

describe('forms at the top of a schema', () => {
  test('are one form with the arguments of all, and the description has them', () => {
    const forms: JsonObject = {
      oneOf: [
        { properties: { kind: { const: 'url' }, url: { type: 'string' } }, required: ['kind', 'url'] },
        { properties: { kind: { const: 'text' }, text: { type: 'string' } }, required: ['kind', 'text'] },
      ],
    };
    expect(takenTool(toolOf({ type: 'object', ...forms }))).toEqual({
      name: 'attach',
      description: `Attaches.\n\nIts arguments also match this JSON schema: ${JSON.stringify(forms)}`,
      inputSchema: {
        type: 'object',
        properties: {
          kind: { anyOf: [{ const: 'url' }, { const: 'text' }] },
          url: { type: 'string' },
          text: { type: 'string' },
        },
        required: ['kind'],
      },
    });
  });

  test('leave what the schema itself says of an argument, and add to what it needs', () => {
    const schema = {
      ...{ type: 'object', additionalProperties: false },
      properties: { id: { type: 'string' }, body: { type: 'string' } },
      required: ['id'],
      allOf: [{ properties: { id: { minLength: 1 } }, required: ['body'] }],
      anyOf: [{ required: ['paths'] }, { required: ['scopes'] }],
    };
    expect(taken(schema)).toEqual({
      ...{ type: 'object', additionalProperties: false },
      properties: { id: { type: 'string' }, body: { type: 'string' } },
      required: ['id', 'body'],
    });
  });

  test('are found by a reference, also one that leads back', () => {
    const $defs = {
      'a/b': { properties: { id: { type: 'string' } }, required: ['id'], allOf: [{ $ref: '#/$defs/a~1b' }] },
    };
    expect(taken({ type: 'object', $ref: '#/$defs/a~1b', $defs })).toEqual({
      ...{ type: 'object', $defs, properties: { id: { type: 'string' } }, required: ['id'] },
    });
    for (const $ref of ['#/$defs/none', 'https://example.org/schema', '#', 7])
      expect(taken({ type: 'object', $ref, required: [7] })).toEqual({ type: 'object', properties: {} });
  });

  test('that are long are not repeated', () => {
    const anyOf = Array.from({ length: 200 }, (_, index) => ({ required: [`argument-${index}`] }));
    expect(takenTool(toolOf({ type: 'object', anyOf })).description).toBe('Attaches.');
  });

  test('of arguments stay, at any depth', () => {
    const properties = { target: { oneOf: [{ type: 'string' }, { type: 'null' }] } };
    expect(taken({ type: 'object', properties })).toEqual({ type: 'object', properties });
  });

  test('of a schema of odd parts are left', () => {
    const odd = { type: 'object', properties: 7, required: [7, 'a'], anyOf: 'x', allOf: [7, null, []] };
    expect(taken(odd)).toEqual({ type: 'object', properties: {}, required: ['a'] });
  });
});

test('a schema of one form is as it was written, in its order', () => {
  const schema = { $schema: 's', required: ['b'], properties: { b: {}, a: {} }, type: 'object', $defs: {} };
  expect(JSON.stringify(taken(schema))).toBe(JSON.stringify(schema));
});

test('a list says what is in it, wherever it is', () => {
  const list = { type: 'array' };
  const pair = { type: 'array', items: [{ type: 'array' }, { type: 'string' }] };
  const schema = {
    type: 'object',
    properties: { list, pair, maybe: { type: ['array', 'null'] }, deep: { items: list, anyOf: [list] } },
    $defs: { list },
    default: { type: 'array' },
  };
  const whole = { type: 'array', items: {} };
  expect(taken(schema)).toEqual({
    type: 'object',
    properties: {
      list: whole,
      pair: { type: 'array', prefixItems: [whole, { type: 'string' }], items: {} },
      maybe: { type: ['array', 'null'], items: {} },
      deep: { items: whole, anyOf: [whole] },
    },
    $defs: { list: whole },
    default: { type: 'array' },
  });
});
