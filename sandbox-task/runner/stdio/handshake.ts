/**
 * The handshake with an MCP server over stdio, and what every later question must carry.
 *
 * It is `initialize`, which servers of all revisions before 2026-07-28 need and most later ones still serve. One that
 * serves the newest alone refuses it with -32022 and is asked without a handshake, each question naming the
 * revision (modelcontextprotocol.io/specification, versioning).
 */
import type { JsonObject } from '#shared/domain/json.ts';
import { isObject, type RpcPeer } from './rpc-peer.ts';
import { StdioError } from './stdio-error.ts';

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

export const shakeHands = async (peer: RpcPeer): Promise<Handshake> => {
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
