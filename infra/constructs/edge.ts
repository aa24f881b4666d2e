/**
 * The public side: one CloudFront distribution in front of the web app, the REST API with MCP, and the WebSocket, and
 * the rules whose functions need its address.
 */
import { CfnOutput } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { Settings } from '../settings.ts';
import { WebDistribution } from './distribution.ts';
import { PublicRules } from './event-rules.ts';
import type { LogOptions } from './log-group.ts';
import { OriginKey } from './origin-key.ts';
import type { PlatformFunctions } from './platform-functions.ts';
import { StreamedApi } from './rest-api.ts';
import type { RealtimeApi } from './socket-api.ts';
import { WebFirewallArn } from './web-firewall.ts';

export type EdgeProps = {
  readonly settings: Settings;
  readonly logs: LogOptions;
  readonly functions: PlatformFunctions;
  readonly socketApi: RealtimeApi;
};

export class Edge extends Construct {
  readonly restApi: StreamedApi;
  readonly distribution: WebDistribution;
  readonly url: string;

  constructor(scope: Construct, id: string, { settings, logs, functions, socketApi }: EdgeProps) {
    super(scope, id);
    const { deployment, domain, firewall, distributionLogs } = settings;
    const [api, mcp] = [functions.api.lambda, functions.mcp.lambda];
    const isKeyed = firewall;
    this.restApi = new StreamedApi(this, 'Api', { ...settings, ...logs, api, mcp, isKeyed });
    const originKey = isKeyed ? new OriginKey(this, 'OriginKey', { deployment }) : undefined;
    originKey?.admitTo({ rest: this.restApi.api.deploymentStage, socket: socketApi.stage });
    this.distribution = new WebDistribution(this, 'Distribution', {
      domain,
      isLogged: distributionLogs,
      firewallArn: firewall ? new WebFirewallArn(this, 'Firewall', { deployment, logs }).arn : undefined,
      restApi: this.restApi.origin,
      socketDomainName: socketApi.domainName,
      originHeaders: originKey?.headers,
    });
    this.url = `https://${domain?.name ?? this.distribution.distribution.distributionDomainName}`;
    new CfnOutput(this, 'Url', { value: this.url });
    new CfnOutput(this, 'DistributionName', {
      value: this.distribution.distribution.distributionDomainName,
    });
    new CfnOutput(this, 'WebBucket', { value: this.distribution.web.bucketName });
    new PublicRules(this, 'Default', { settings, functions, url: this.url });
  }
}
