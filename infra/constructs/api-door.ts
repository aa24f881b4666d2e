/**
 * The REST API: everything under `/api` to one function and `/mcp` to another, whose answers are streamed as
 * they are made.
 *
 * It authenticates nobody: the functions do, because a refusal has our words and headers. What API Gateway
 * itself refuses is said in the same shape as the function would.
 */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  ContentHandling,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  MockIntegration,
  PassthroughBehavior,
  ResponseTransferMode,
  ResponseType,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Settings } from '../settings.ts';
import { acknowledge } from './acknowledge.ts';

export type ApiDoorProps = {
  readonly settings: Settings;
  readonly api: IFunction;
  readonly mcp: IFunction;
};

/** Only with streaming; a whole answer ends at 29 s (https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html). */
const streamedTimeout = Duration.minutes(15);

export class ApiDoor extends Construct {
  readonly api: RestApi;
  /** What CloudFront asks: the stage is no part of the paths the function sees. */
  readonly origin: { readonly domainName: string; readonly path: string };

  constructor(scope: Construct, id: string, { settings, api, mcp }: ApiDoorProps) {
    super(scope, id);
    this.api = this.addApi(settings);
    this.api.root.addResource('api').addResource('{proxy+}').addMethod('ANY', streamed(api));
    // Which methods MCP has is for its function to say, in its own words.
    this.api.root.addResource('mcp').addMethod('ANY', streamed(mcp));
    this.addHealth();
    this.addRefusals();
    const { region, urlSuffix } = this.api.stack;
    this.origin = {
      domainName: `${this.api.restApiId}.execute-api.${region}.${urlSuffix}`,
      path: `/${this.api.deploymentStage.stageName}`,
    };
    acknowledge(
      this.api,
      'APIG2',
      'The functions decode every request by its contract, and say what is wrong in our words.',
    );
    acknowledge(
      this.api,
      'APIG3',
      "A web firewall is the operator's choice: it costs money by the month. Rates are limited per stage and per token.",
    );
    acknowledge(
      this.api,
      'APIG4',
      'The functions authenticate, so that a refusal has our body and WWW-Authenticate.',
    );
    acknowledge(this.api, 'COG4', "Tokens are the platform's own; there is no user pool.");
  }

  private addApi({ deployment, requestsPerSecondMax, requestBurstMax }: Settings): RestApi {
    return new RestApi(this, 'Rest', {
      description: `${deployment}: REST`,
      endpointTypes: [EndpointType.REGIONAL],
      binaryMediaTypes: ['*/*'],
      cloudWatchRole: false,
      deployOptions: {
        stageName: 'live',
        tracingEnabled: true,
        throttlingRateLimit: requestsPerSecondMax,
        throttlingBurstLimit: requestBurstMax,
        loggingLevel: MethodLoggingLevel.ERROR,
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(
          new LogGroup(this, 'AccessLogs', {
            retention: RetentionDays.ONE_MONTH,
            removalPolicy: RemovalPolicy.DESTROY,
          }),
        ),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLog)),
      },
    });
  }

  /** Answered by API Gateway itself: it says that the door stands, and costs no function. */
  private addHealth(): void {
    const json = 'application/json';
    this.api.root.addResource('health').addMethod(
      'GET',
      new MockIntegration({
        passthroughBehavior: PassthroughBehavior.NEVER,
        // Every media type counts as binary here, and a template is applied to text only.
        contentHandling: ContentHandling.CONVERT_TO_TEXT,
        requestTemplates: { [json]: '{"statusCode": 200}' },
        integrationResponses: [{ statusCode: '200', responseTemplates: { [json]: '{"status":"ok"}' } }],
      }),
      { methodResponses: [{ statusCode: '200' }] },
    );
  }

  private addRefusals(): void {
    for (const [name, { type, status, code, message, headers }] of Object.entries(refusals))
      this.api.addGatewayResponse(name, {
        type,
        statusCode: status,
        ...(headers === undefined ? {} : { responseHeaders: headers }),
        templates: { 'application/json': refusalBody(code, message) },
      });
  }
}

const streamed = (handler: IFunction): LambdaIntegration =>
  new LambdaIntegration(handler, {
    responseTransferMode: ResponseTransferMode.STREAM,
    timeout: streamedTimeout,
    allowTestInvoke: false,
  });

type Refusal = {
  readonly type: ResponseType;
  readonly status: string;
  readonly code: string;
  readonly message: string;
  readonly headers?: Record<string, string>;
};

/** What never reaches the function. The words are those of `shared/errors.ts`. */
const refusals: Record<string, Refusal> = {
  NoRoute: {
    // API Gateway's name for a path without a method.
    type: ResponseType.MISSING_AUTHENTICATION_TOKEN,
    status: '404',
    code: 'not_found',
    message: 'there is nothing at this path',
  },
  Throttled: {
    type: ResponseType.THROTTLED,
    status: '429',
    code: 'rate_limited',
    message: 'too many requests',
    headers: { 'Retry-After': "'1'" },
  },
  TooLarge: {
    type: ResponseType.REQUEST_TOO_LARGE,
    status: '413',
    code: 'payload_too_large',
    message: 'the request is too large',
  },
  ClientFault: {
    type: ResponseType.DEFAULT_4XX,
    status: '400',
    code: 'invalid_request',
    message: 'the request is not valid',
  },
  OurFault: {
    type: ResponseType.DEFAULT_5XX,
    status: '500',
    code: 'internal_error',
    message: 'the request failed',
  },
};

const refusalBody = (code: string, message: string): string =>
  JSON.stringify({
    error: { code, message, suggestions: [], recoveryActions: [], requestId: '$context.requestId' },
  });

/** No query: it may hold a ticket. */
const accessLog = {
  requestId: '$context.requestId',
  method: '$context.httpMethod',
  path: '$context.path',
  status: '$context.status',
  sourceIp: '$context.identity.sourceIp',
  requestTimeEpoch: '$context.requestTimeEpoch',
  latencyMs: '$context.responseLatency',
  integrationLatencyMs: '$context.integrationLatency',
  responseBytes: '$context.responseLength',
  error: '$context.error.message',
};
