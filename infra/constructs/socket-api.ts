/**
 * The WebSocket API: three routes to one function, and an authorizer at every `$connect`.
 *
 * A WebSocket URL takes no path after its stage, so the stage is `ws` and appears as `/ws` of the one
 * origin. Answers of the authorizer are not cached: a revoked token fails at once.
 */
import { Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  type CfnRoute,
  LogGroupLogDestination,
  WebSocketApi,
  WebSocketStage,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { WebSocketLambdaAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { WebSocketLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { addLogGroup, type LogOptions } from './log-group.ts';
import { acknowledge } from './nag-exceptions.ts';
import type { Permission } from './permission.ts';

const stageName = 'ws';

type SocketVariables = { readonly CONNECTIONS_URL: string };

export type RealtimeApiProps = LogOptions & {
  /** Absent: `sallyport`. */
  readonly deployment?: string;
  /** Frames and connects of all clients together, beside the rates of each connection and token. Absent: 500, in bursts of 1000. */
  readonly requestsPerSecondMax?: number;
  readonly requestBurstMax?: number;
};

export type SocketRoutes = {
  readonly authorizer: IFunction;
  readonly socket: IFunction;
  /** Only a connect with the key of the origin is accepted. */
  readonly isKeyed: boolean;
};

export class RealtimeApi extends Construct {
  readonly api: WebSocketApi;
  readonly stage: WebSocketStage;

  constructor(scope: Construct, id: string, props: RealtimeApiProps = {}) {
    super(scope, id);
    const { deployment = 'sallyport', requestsPerSecondMax = 500, requestBurstMax = 1000 } = props;
    this.api = new WebSocketApi(this, 'Api', { description: `${deployment}: WebSocket` });
    this.stage = new WebSocketStage(this, 'Stage', {
      webSocketApi: this.api,
      stageName,
      autoDeploy: true,
      throttle: { rateLimit: requestsPerSecondMax, burstLimit: requestBurstMax },
      accessLogSettings: {
        destination: new LogGroupLogDestination(addLogGroup(this, 'AccessLogs', props)),
        format: AccessLogFormat.custom(JSON.stringify(accessLog)),
      },
    });
  }

  /** To send frames to connections. */
  get sendFrames(): Permission<SocketVariables> {
    return this.manageConnections('POST');
  }

  /** To send frames, and to close a connection. */
  get closeConnections(): Permission<SocketVariables> {
    return this.manageConnections('POST', 'DELETE');
  }

  /** The origin of CloudFront. */
  get domainName(): string {
    const { region, urlSuffix } = Stack.of(this);
    return `${this.api.apiId}.execute-api.${region}.${urlSuffix}`;
  }

  route({ authorizer, socket, isKeyed }: SocketRoutes): void {
    const integration = new WebSocketLambdaIntegration('Socket', socket);
    for (const route of ['$connect', '$disconnect', '$default'])
      this.api.addRoute(route, {
        integration,
        ...(route === '$connect'
          ? // Every listed source is required, and a token comes either in a header or in the query: none is listed.
            { authorizer: new WebSocketLambdaAuthorizer('Authorizer', authorizer, { identitySource: [] }) }
          : {}),
      });
    (this.api.node.findChild('$connect-Route').node.defaultChild as CfnRoute).apiKeyRequired = isKeyed;
    for (const route of ['$disconnect-Route', '$default-Route'])
      acknowledge(
        this.api.node.findChild(route),
        'APIG4',
        'API Gateway authorises a WebSocket at $connect alone; every frame is checked again by the function.',
      );
  }

  private manageConnections(...methods: readonly string[]): Permission<SocketVariables> {
    const arn = (method: string): string =>
      Stack.of(this).formatArn({
        service: 'execute-api',
        resource: this.api.apiId,
        resourceName: `${stageName}/${method}/@connections/*`,
      });
    return {
      variables: { CONNECTIONS_URL: this.stage.callbackUrl },
      statements: [
        {
          actions: ['execute-api:ManageConnections'],
          resources: methods.map(arn),
          because:
            'Connections are created at run time; all connections of this stage belong to the platform.',
        },
      ],
    };
  }
}

/** Without the query: it may hold a ticket. */
const accessLog = {
  requestId: '$context.requestId',
  connectionId: '$context.connectionId',
  route: '$context.routeKey',
  event: '$context.eventType',
  status: '$context.status',
  sourceIp: '$context.identity.sourceIp',
  requestTimeEpoch: '$context.requestTimeEpoch',
  authorizerLatencyMs: '$context.authorizer.latency',
  integrationLatencyMs: '$context.integration.latency',
  error: '$context.error.message',
};
