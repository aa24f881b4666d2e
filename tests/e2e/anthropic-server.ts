/** A server that speaks the streamed Messages wire of Anthropic and asks for the tool calls that a test gives it. */
import type { ServerResponse } from 'node:http';
import { listen } from '../../local/endpoint/listen.ts';

export type ScriptedCall = { readonly id: string; readonly name: string; readonly input: object };

/** A refusal before the first byte, an error in the middle of a streamed text, or a text that does not go on. */
export type ScriptedFault =
  | { readonly status: number; readonly retryAfter?: string }
  | { readonly text: string; readonly stalls?: true };

type Scripted = readonly ScriptedCall[] | ScriptedFault | { readonly says: string };

export type AnthropicServer = {
  readonly url: string;
  /** The answer to the next request; without one, a sentence. */
  readonly script: Scripted[];
  /** The bodies of all requests. */
  readonly asked: unknown[];
  readonly close: () => void;
};

/** A delta carries this many characters, as a provider's does some. */
const deltaCharacters = 60_000;

type Asked = { readonly tools?: readonly unknown[] };

/** A request for which the script is not meant is answered with a sentence. */
export const openAnthropicServer = async (
  isScripted: (asked: Asked) => boolean = () => true,
): Promise<AnthropicServer> => {
  const script: Scripted[] = [];
  const asked: unknown[] = [];
  const { url, stop } = await listen(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    if (!request.url?.endsWith('/messages')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":1,"data":[]}');
      return;
    }
    const question = JSON.parse(body) as Asked;
    asked.push(question);
    const next = (isScripted(question) ? script.shift() : undefined) ?? [];
    if ('status' in next) {
      refuse(response, next);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of 'text' in next ? brokenOff(next) : eventsOf(next))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    if (!('stalls' in next)) response.end();
  });
  return {
    url,
    script,
    asked,
    close: () => void stop(),
  };
};

const refuse = (
  response: ServerResponse,
  { status, retryAfter }: { readonly status: number; readonly retryAfter?: string },
): void => {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ type: 'error', error: errorOf(status) }));
};

const usage = { input_tokens: 10, output_tokens: 5 };

const overload = { type: 'overloaded_error', message: 'Overloaded' };
const refusedKey = { type: 'authentication_error', message: 'invalid x-api-key' };
const errorOf = (status: number): object => (status === 401 ? refusedKey : overload);

const begin = {
  type: 'message_start',
  message: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage },
  },
};

const brokenOff = ({ text, stalls = false }: { readonly text: string; readonly stalls?: boolean }) => [
  begin,
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  ...(stalls ? [] : [{ type: 'error', error: overload }]),
];

const eventsOf = (next: readonly ScriptedCall[] | { readonly says: string }) => {
  const says = 'says' in next ? next.says : 'done';
  const calls = 'says' in next ? [] : next;
  return [
    begin,
    ...(calls.length === 0 ? sentence(says) : calls.flatMap(callEvents)),
    {
      type: 'message_delta',
      delta: { stop_reason: calls.length === 0 ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage,
    },
    { type: 'message_stop' },
  ];
};

const sentence = (text: string) => [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  { type: 'content_block_stop', index: 0 },
];

const callEvents = ({ id, name, input }: ScriptedCall, index: number) => {
  const json = JSON.stringify(input);
  const deltas = Array.from({ length: Math.ceil(json.length / deltaCharacters) }, (_, part) => ({
    type: 'content_block_delta',
    index,
    delta: {
      type: 'input_json_delta',
      partial_json: json.slice(part * deltaCharacters, (part + 1) * deltaCharacters),
    },
  }));
  const block = { type: 'tool_use', id, name, input: {} };
  return [
    { type: 'content_block_start', index, content_block: block },
    ...deltas,
    { type: 'content_block_stop', index },
  ];
};
