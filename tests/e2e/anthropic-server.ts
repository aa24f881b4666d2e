/** A server that speaks the streamed Messages wire of Anthropic and asks for the tool calls that a test gives it. */
import { listen } from '../../local/endpoint/listen.ts';
import {
  beginOf,
  blockDelta,
  blockStart,
  blockStop,
  endOf,
  overload,
  refuse,
  textDelta,
  textStart,
  type WireRefusal,
  written,
} from '../messages-wire.ts';

export type ScriptedCall = { readonly id: string; readonly name: string; readonly input: object };

/** A refusal before the first byte, an error in the middle of a streamed text, or a text that does not go on. */
export type ScriptedFault = WireRefusal | { readonly text: string; readonly stalls?: true };

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
    for (const event of 'text' in next ? brokenOff(next) : eventsOf(next)) response.write(written(event));
    if (!('stalls' in next)) response.end();
  });
  return {
    url,
    script,
    asked,
    close: () => void stop(),
  };
};

const brokenOff = ({ text, stalls = false }: { readonly text: string; readonly stalls?: boolean }) => [
  beginOf(),
  textStart,
  textDelta(text),
  ...(stalls ? [] : [{ type: 'error', error: overload }]),
];

const eventsOf = (next: readonly ScriptedCall[] | { readonly says: string }) => {
  const says = 'says' in next ? next.says : 'done';
  const calls = 'says' in next ? [] : next;
  return [
    beginOf(),
    ...(calls.length === 0 ? [textStart, textDelta(says), blockStop(0)] : calls.flatMap(callEvents)),
    ...endOf(calls.length === 0 ? 'end_turn' : 'tool_use'),
  ];
};

const callEvents = ({ id, name, input }: ScriptedCall, index: number) => {
  const json = JSON.stringify(input);
  const deltas = Array.from({ length: Math.ceil(json.length / deltaCharacters) }, (_, part) =>
    blockDelta(index, {
      type: 'input_json_delta',
      partial_json: json.slice(part * deltaCharacters, (part + 1) * deltaCharacters),
    }),
  );
  return [blockStart(index, { type: 'tool_use', id, name, input: {} }), ...deltas, blockStop(index)];
};
