/**
 * The names that the server uses of the MCP library. This is a separate file of the bundle, loaded by the first request over
 * MCP: the library is more than half of the server's code, and the platform's own calls need none of it.
 */
export { createMcpHandler, Server } from '@modelcontextprotocol/server';
