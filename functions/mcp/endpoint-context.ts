/** The context of one HTTP request to the endpoint, and the factory of its server. */
import type { McpRequestContext, McpServer, Server } from '@modelcontextprotocol/server';
import type { Principal } from '#shared/domain/principal.ts';
import type { McpPorts, McpSettings } from './define-tool.ts';

export type EndpointContext = {
  readonly ports: McpPorts;
  readonly settings: McpSettings;
  readonly principal: Principal;
  readonly correlationId: string;
};

/** A fresh server for each request: it knows its caller. */
export type MakeServer = (context: EndpointContext, client: McpRequestContext) => Server | McpServer;
