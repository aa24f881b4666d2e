/** What a client meets: one CloudFront origin before the web app, the REST API with MCP, and the WebSocket. */
import { CfnOutput } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { Settings } from '../settings.ts';
import { Front } from './distribution.ts';
import type { LogKeeping } from './log-group.ts';
import type { HouseFunction } from './platform-function.ts';
import { StreamedApi } from './rest-api.ts';
import type { RealtimeApi } from './socket-api.ts';
import { FirewallArn } from './web-firewall.ts';

export type EdgeProps = {
  readonly settings: Settings;
  readonly logs: LogKeeping;
  readonly api: HouseFunction<'api'>;
  readonly mcp: HouseFunction<'mcp'>;
  readonly socket: RealtimeApi;
};

export class Edge extends Construct {
  readonly door: StreamedApi;
  readonly front: Front;
  readonly url: string;

  constructor(scope: Construct, id: string, { settings, logs, api, mcp, socket }: EdgeProps) {
    super(scope, id);
    this.door = new StreamedApi(this, 'Api', { ...settings, ...logs, api: api.lambda, mcp: mcp.lambda });
    this.front = new Front(this, 'Front', {
      domain: settings.domain,
      firewallArn: settings.firewall ? this.firewallArn(settings.deployment, logs) : undefined,
      api: this.door.origin,
      socketDomainName: socket.domainName,
    });
    this.url = `https://${settings.domain?.name ?? this.front.distribution.distributionDomainName}`;
    new CfnOutput(this, 'Url', { value: this.url });
    new CfnOutput(this, 'WebBucket', { value: this.front.web.bucketName });
  }

  private firewallArn(deployment: string, logs: LogKeeping): string {
    return new FirewallArn(this, 'Firewall', { deployment, logs }).arn;
  }
}
