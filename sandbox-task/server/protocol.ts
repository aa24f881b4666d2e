/**
 * Names what the server uses of the library of MCP: a file of its own in the bundle, loaded by the first request over MCP. It is more
 * than half of the server's code, and the platform's calls need none of it.
 */
export { createMcpHandler, Server } from '@modelcontextprotocol/server';
