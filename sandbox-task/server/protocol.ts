/**
 * Names what the server uses of the library of MCP: a file of its own in the bundle, loaded behind the first answer. It is more than
 * half of the server's code, and a sandbox that starts is asked for its health first.
 */
export { createMcpHandler, Server } from '@modelcontextprotocol/server';
