/** What is asked of an MCP server: its tools, page by page, or one call of a tool. */
import type { JsonObject } from '#shared/domain/json.ts';
import { type StdioAsk, toolsMax } from '../../wire/stdio-messages.ts';
import type { Handshake } from './handshake.ts';
import type { RpcAnswer, RpcPeer, RpcQuestion } from './rpc-peer.ts';
import { StdioError } from './stdio-error.ts';
import { boundTools, readToolAnswer, type ToolAnswer, type ToolList } from './tool-answer.ts';

export type Conversation = {
  readonly peer: RpcPeer;
  readonly handshake: Handshake;
  /** Told of each question as it is asked. */
  readonly onAsked: (question: RpcQuestion) => void;
  readonly onProgress: (text: string) => void;
};

/** A server that gives a next page for ever is not followed. */
const pagesMax = 50;
const cursorCharactersMax = 4096;

export const askServer = (ask: StdioAsk, conversation: Conversation): Promise<ToolList | ToolAnswer> =>
  ask.type === 'list' ? listTools(conversation) : callTool(ask, conversation);

const callTool = async (
  { tool, arguments: input }: Extract<StdioAsk, { type: 'call' }>,
  { peer, handshake, onAsked, onProgress }: Conversation,
): Promise<ToolAnswer> => {
  const params = { name: tool, arguments: input, _meta: handshake.meta };
  const question = peer.ask('tools/call', params, onProgress);
  onAsked(question);
  return readToolAnswer(await question.answer);
};

const listTools = async ({ peer, handshake, onAsked }: Conversation): Promise<ToolList> => {
  const tools: unknown[] = [];
  let cursor: JsonObject = {};
  for (let page = 0; handshake.hasTools && page < pagesMax && tools.length <= toolsMax; page += 1) {
    const question = peer.ask('tools/list', { ...cursor, _meta: handshake.meta });
    onAsked(question);
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
