/** Clients of `/mcp` as others have them: the SDK of this year, and the one before, which speaks the older protocol. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

export type Fields = Record<string, unknown>;
export type Progress = { readonly message?: string | undefined };
export type CallResult = {
  readonly isError?: boolean | undefined;
  readonly content: readonly { readonly type: string; readonly text?: string; readonly data?: string }[];
  readonly structuredContent?: Fields | undefined;
};
/** Content of a `notifications/message`. */
export type Notified = {
  readonly level: string;
  readonly logger?: string | undefined;
  readonly data: Fields;
};
export type CallOptions = {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
};
type ListedTool = {
  readonly name: string;
  readonly inputSchema: object;
  readonly outputSchema?: object | undefined;
};

export type McpClient = {
  readonly tools: () => Promise<readonly ListedTool[]>;
  readonly call: (name: string, args?: Fields, options?: CallOptions) => Promise<CallResult>;
  readonly close: () => Promise<void>;
};

export type Reached = { readonly url: string; readonly token: string };

export const generations = ['2026', 'before 2026'] as const;
export type Generation = (typeof generations)[number];

const info = { name: 'e2e', version: '1' };
/** The clients' own minute is over on a busy machine; a call that takes this long is stuck. */
const answerMsMax = 600_000;
const optionsOf = ({ signal, onProgress }: CallOptions) => ({
  timeout: answerMsMax,
  ...(signal === undefined ? {} : { signal }),
  ...(onProgress === undefined ? {} : { onprogress: onProgress }),
});

type Hear = (notified: Notified) => void;

export const connect = (
  reached: Reached,
  generation: Generation = '2026',
  hear: Hear = () => undefined,
): Promise<McpClient> => (generation === '2026' ? connectNew(reached, hear) : connectOlder(reached, hear));

const connectNew = async ({ url, token }: Reached, hear: Hear): Promise<McpClient> => {
  const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  client.setNotificationHandler('notifications/message', ({ params }) => hear(params as Notified));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: args }, optionsOf(options))) as CallResult,
    close: () => client.close(),
  };
};

const connectOlder = async ({ url, token }: Reached, hear: Hear): Promise<McpClient> => {
  const client = new OlderClient(info);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new OlderTransport(new URL(`${url}/mcp`), { requestInit });
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => hear(params as Notified));
  await client.connect(transport as Parameters<OlderClient['connect']>[0]);
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: args }, undefined, optionsOf(options))) as CallResult,
    close: () => client.close(),
  };
};

/** The fields of a call that must succeed; its text repeats them. */
export const fieldsOf = ({ isError, content, structuredContent }: CallResult): Fields => {
  if (isError || structuredContent === undefined) throw new Error(JSON.stringify(content));
  return structuredContent;
};

export type ToolError = {
  readonly type: string;
  readonly message: string;
  readonly suggestions: readonly string[];
  readonly recovery_actions: readonly string[];
};

/** The error of a call that must be refused: in the text, and no fields. */
export const errorOf = ({ isError, content, structuredContent }: CallResult): ToolError => {
  if (!isError || structuredContent !== undefined) throw new Error(`not refused: ${JSON.stringify(content)}`);
  return JSON.parse(content[0]?.text ?? '').error;
};
