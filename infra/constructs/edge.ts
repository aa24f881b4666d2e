/**
 * The public side: one CloudFront distribution in front of the web app, the REST API with MCP, and the WebSocket, and
 * the rules whose functions need its address; behind a web firewall also the key by which API Gateway recognises CloudFront.
 */
import { CfnOutput } from 'aws-cdk-lib';
import { CfnApiKey, CfnUsagePlan, CfnUsagePlanKey, type IStage } from 'aws-cdk-lib/aws-apigateway';
import type { WebSocketStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Settings } from '../settings.ts';
import { WebDistribution } from './distribution.ts';
import { PublicRules } from './event-rules.ts';
import type { LogOptions } from './log-group.ts';
import { acknowledge } from './nag-exceptions.ts';
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

type KeyedStages = { readonly rest: IStage; readonly socket: WebSocketStage };

/** API Gateway takes 20 to 128 letters and digits. */
const keyCharacters = 64;

/**
 * An API key of API Gateway, which CloudFront adds to each request and a client cannot replace: a header of the origin wins over
 * the client's (https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/add-origin-custom-headers.html). Without it a client
 * that knows the APIs' own addresses passes the firewall. Its plan limits nothing. It says where a request came through, never who sent it.
 */
class OriginKey extends Construct {
  /** Added by CloudFront to each request. */
  readonly headers: Readonly<Record<string, string>>;
  private readonly key: CfnApiKey;

  constructor(scope: Construct, id: string, { deployment }: { readonly deployment: string }) {
    super(scope, id);
    const secret = new Secret(this, 'Secret', {
      description: 'Sallyport: the key by which API Gateway recognises requests of CloudFront',
      generateSecretString: { excludePunctuation: true, passwordLength: keyCharacters },
    });
    acknowledge(secret, 'SMG4', 'Neither API Gateway nor CloudFront would read another value by itself.');
    const value = secret.secretValue.unsafeUnwrap();
    this.headers = { 'x-api-key': value };
    this.key = new CfnApiKey(this, 'Key', { name: `${deployment}-origin`, enabled: true, value });
  }

  /** Their routes require the key by themselves; a key is of use only to stages of its plan. */
  admitTo({ rest, socket }: KeyedStages): void {
    const plan = new CfnUsagePlan(this, 'Plan', {
      apiStages: [
        { apiId: rest.restApi.restApiId, stage: rest.stageName },
        { apiId: socket.api.apiId, stage: socket.stageName },
      ],
    });
    new CfnUsagePlanKey(this, 'PlanKey', {
      keyId: this.key.attrApiKeyId,
      keyType: 'API_KEY',
      usagePlanId: plan.attrId,
    });
  }
}
