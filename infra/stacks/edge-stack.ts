/** What a client meets: one CloudFront origin before the web app, the REST API with MCP, and the WebSocket. */
import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ApiDoor } from '../constructs/api-door.ts';
import { Front } from '../constructs/front.ts';
import type { HouseFunction } from '../constructs/house-function.ts';
import type { SocketDoor } from '../constructs/socket-door.ts';
import type { Settings } from '../settings.ts';

export type EdgeStackProps = {
  readonly settings: Settings;
  readonly api: HouseFunction<'api'>;
  readonly mcp: HouseFunction<'mcp'>;
  readonly socket: SocketDoor;
};

export class EdgeStack extends Stack {
  readonly door: ApiDoor;
  readonly front: Front;

  constructor(scope: Construct, id: string, { settings, api, mcp, socket }: EdgeStackProps) {
    super(scope, id, { description: 'Sallyport: REST, MCP, web app and the one origin' });
    this.door = new ApiDoor(this, 'Api', { settings, api: api.lambda, mcp: mcp.lambda });
    this.front = new Front(this, 'Front', {
      domain: settings.domain,
      api: this.door.origin,
      socketDomainName: `${socket.api.apiId}.execute-api.${this.region}.${this.urlSuffix}`,
    });
    const name = settings.domain?.name ?? this.front.distribution.distributionDomainName;
    new CfnOutput(this, 'Url', { value: `https://${name}` });
    new CfnOutput(this, 'WebBucket', { value: this.front.web.bucketName });
  }
}
