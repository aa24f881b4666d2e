/**
 * The SDK's server, with JSON-RPC's own error for malformed parameters: invalid parameters.
 *
 * By itself it calls them an internal error, tools/call apart: `Protocol.setRequestHandler` throws an `Error`
 * without a code, with a validator's text (@modelcontextprotocol/server 2.4).
 * https://www.jsonrpc.org/specification, 5.1
 */
import {
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

export class WellFormedServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        return await wrapped(request, context);
      } catch (cause) {
        if (cause instanceof ProtocolError) throw cause;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params for ${method}`);
      }
    };
  }
}
