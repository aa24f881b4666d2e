/**
 * The messages of the relay's socket: JSON-RPC 2.0, one message a line, no batches.
 *
 * A message without an id is a notification and is ignored. A refusal of the platform carries its error code in `data.code`.
 */
import * as z from 'zod';
import { isShallow } from '#shared/domain/json.ts';
import { onFirstUse } from '../on-first-use.ts';

export const relayMethods = [
  'session_message',
  'session_events',
  'caller_tool',
  'platform_tools',
  'platform_call_tool',
] as const;
export type RelayMethod = (typeof relayMethods)[number];

/** JSON-RPC 2.0, 5.1; `refused` is of the range for servers. */
export const failureCodes = {
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  refused: -32_000,
} as const;

const idCharactersMax = 256;
const methodCharactersMax = 100;
/** Both ends write the parameters anew. The arguments of a tool, which are in them, may be nested as deeply as in other requests. */
const paramsDepthMax = 68;

const relayRequest = onFirstUse(() =>
  z.object({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string().max(idCharactersMax), z.number()]).optional(),
    method: z.string().max(methodCharactersMax),
    params: z.record(z.string(), z.unknown()).optional(),
  }),
);
export type RelayRequest = z.output<ReturnType<typeof relayRequest>>;

export type RelayAnswer = {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly result?: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
};

type Read =
  | { readonly ok: true; readonly request: RelayRequest }
  | { readonly ok: false; readonly id: RelayAnswer['id']; readonly code: number; readonly problem: string };

export const readRequest = (line: Uint8Array): Read => {
  const value = jsonOf(line);
  if (value === undefined)
    return { ok: false, id: null, code: failureCodes.parse, problem: 'a line is one message in JSON' };
  const { success, data } = relayRequest().safeParse(value);
  if (success && isShallow(data.params, paramsDepthMax)) return { ok: true, request: data };
  const given = value !== null && typeof value === 'object' && 'id' in value ? value.id : null;
  const id = typeof given === 'string' || typeof given === 'number' ? given : null;
  const problem = success
    ? `params: nested at most ${paramsDepthMax} times`
    : 'a message is {"jsonrpc": "2.0", "id", "method", "params"?}';
  return { ok: false, id, code: failureCodes.invalidRequest, problem };
};

const jsonOf = (line: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch {
    return undefined;
  }
};

export const encodeAnswer = (answer: RelayAnswer): string => `${JSON.stringify(answer)}\n`;
