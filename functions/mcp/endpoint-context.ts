/** What one HTTP request brings to the endpoint, and how a server for it is made. */
import type { McpRequestContext, McpServer, Server } from '@modelcontextprotocol/server';
import type { Principal } from '#shared/domain/principal.ts';
import type { McpPorts, McpSettings } from './define-tool.ts';

export type EndpointContext = {
  readonly ports: McpPorts;
  readonly settings: McpSettings;
  readonly principal: Principal;
  readonly correlationId: string;
};

/** A fresh server for each request: it knows who asks. */
export type MakeServer = (context: EndpointContext, client: McpRequestContext) => Server | McpServer;
