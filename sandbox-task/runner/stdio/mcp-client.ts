/**
 * The client of one MCP server over stdio: the handshake, the list of its tools page by page, one call of a tool.
 *
 * The handshake is `initialize`, which servers of all revisions before 2026-07-28 need and most later ones still serve. A
 * server of the newest revision alone refuses it with -32022 and needs no handshake: each request then names the
 * revision (modelcontextprotocol.io/specification, versioning).
 */
import type { JsonObject } from '#shared/domain/json.ts';
import { type StdioAsk, toolsMax } from '../../wire/program-messages.ts';
import { isObject, type RpcAnswer, type RpcPeer, type RpcRequest, StdioError } from './rpc-peer.ts';
import { boundTools, readToolAnswer, type ToolAnswer, type ToolList } from './tool-answer.ts';

type McpConnection = {
  readonly peer: RpcPeer;
  readonly handshake: Handshake;
  /** Told of each question as it is asked. */
  readonly onRequest: (question: RpcRequest) => void;
  readonly onProgress: (text: string) => void;
};

/** A server that gives a next page for ever is not followed. */
const pagesMax = 50;
const cursorCharactersMax = 4096;

export const askServer = (ask: StdioAsk, connection: McpConnection): Promise<ToolList | ToolAnswer> =>
  ask.type === 'list' ? listTools(connection) : callTool(ask, connection);

const callTool = async (
  { tool, arguments: input }: Extract<StdioAsk, { type: 'call' }>,
  { peer, handshake, onRequest, onProgress }: McpConnection,
): Promise<ToolAnswer> => {
  const params = { name: tool, arguments: input, _meta: handshake.meta };
  const question = peer.ask('tools/call', params, onProgress);
  onRequest(question);
  return readToolAnswer(await question.answer);
};

const listTools = async ({ peer, handshake, onRequest }: McpConnection): Promise<ToolList> => {
  const tools: unknown[] = [];
  let cursor: JsonObject = {};
  for (let page = 0; handshake.hasTools && page < pagesMax && tools.length <= toolsMax; page += 1) {
    const question = peer.ask('tools/list', { ...cursor, _meta: handshake.meta });
    onRequest(question);
    const { listed, nextCursor } = readPage(await question.answer);
    tools.push(...listed);
    if (typeof nextCursor !== 'string' || nextCursor === '' || nextCursor.length > cursorCharactersMax) break;
    cursor = { cursor: nextCursor };
  }
  return boundTools(tools);
};

const readPage = (
  answer: RpcAnswer,
): { readonly listed: readonly unknown[]; readonly nextCursor: unknown } => {
  if ('error' in answer) throw new StdioError('protocol', `it refused tools/list: ${answer.error.message}`);
  const { tools, nextCursor } = answer.result;
  if (!Array.isArray(tools)) throw new StdioError('protocol', 'it answered tools/list without a list');
  return { listed: tools, nextCursor };
};

export type Handshake = {
  readonly hasTools: boolean;
  /** For `_meta` of each question. */
  readonly meta: JsonObject;
};

const clientInfo = { name: 'sallyport-sandbox', version: '0.1.0' };
const modernVersion = '2026-07-28';
const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const unsupportedVersion = -32022;
const metaPrefix = 'io.modelcontextprotocol';
const complaintCharactersMax = 300;

export const initialize = async (peer: RpcPeer): Promise<Handshake> => {
  const answer = await peer.ask('initialize', {
    protocolVersion: versions[0] ?? '',
    capabilities: {},
    clientInfo,
  }).answer;
  if ('error' in answer) {
    if (answer.error.code === unsupportedVersion) return modern;
    throw complain(`it refused initialize: ${answer.error.message}`);
  }
  const { protocolVersion, capabilities } = answer.result;
  if (typeof protocolVersion !== 'string' || !versions.includes(protocolVersion))
    throw complain(`it wants to speak revision ${JSON.stringify(protocolVersion)}, which is not known here`);
  peer.notify('notifications/initialized', {});
  return { hasTools: isObject(capabilities) && isObject(capabilities['tools']), meta: {} };
};

const modern: Handshake = {
  hasTools: true,
  meta: {
    [`${metaPrefix}/protocolVersion`]: modernVersion,
    [`${metaPrefix}/clientInfo`]: clientInfo,
    [`${metaPrefix}/clientCapabilities`]: {},
  },
};

const complain = (message: string): StdioError =>
  new StdioError('protocol', message.slice(0, complaintCharactersMax));
