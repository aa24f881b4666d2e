/**
 * The REST API: everything under `/api` and `/oauth` to one function, `/mcp` and its metadata to another, with streamed answers.
 *
 * The functions authenticate, so that a refusal has the platform's body and headers. Refusals of API Gateway itself have
 * the same shape.
 */
import { Duration } from 'aws-cdk-lib';
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
import { Construct } from 'constructs';
import { addLogGroup, type LogOptions } from './log-group.ts';
import { acknowledge } from './nag-exceptions.ts';

export type StreamedApiProps = LogOptions & {
  /** Absent: `sallyport`. */
  readonly deployment?: string;
  /** Requests of all clients together, beside the rate of each token. Absent: 500, in bursts of 1000. */
  readonly requestsPerSecondMax?: number;
  readonly requestBurstMax?: number;
  readonly api: IFunction;
  readonly mcp: IFunction;
  /** Only a request with the key of the origin is accepted. Absent: any. */
  readonly isKeyed?: boolean;
};

const stageName = 'live';
/** Only with streaming; a whole answer ends at 29 s (https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html). */
const streamedTimeout = Duration.minutes(15);

export class StreamedApi extends Construct {
  readonly api: RestApi;
  /** The origin of CloudFront: the stage is no part of the paths that the function sees. */
  readonly origin: { readonly domainName: string; readonly path: string };

  constructor(scope: Construct, id: string, props: StreamedApiProps) {
    super(scope, id);
    const { api, mcp } = props;
    this.api = this.addApi(props);
    this.addExecutionLogs(props);
    this.api.root.addResource('api').addResource('{proxy+}').addMethod('ANY', streamed(api));
    // The authorization server for clients of /mcp.
    this.api.root.addResource('oauth').addResource('{proxy+}').addMethod('ANY', streamed(api));
    // The function decides which methods MCP has.
    this.api.root.addResource('mcp').addMethod('ANY', streamed(mcp));
    this.api.root.addResource('.well-known').addResource('{proxy+}').addMethod('ANY', streamed(mcp));
    this.addHealth();
    addRefusals(this.api);
    const { region, urlSuffix } = this.api.stack;
    this.origin = {
      domainName: `${this.api.restApiId}.execute-api.${region}.${urlSuffix}`,
      path: `/${this.api.deploymentStage.stageName}`,
    };
    acknowledge(
      this.api,
      'APIG2',
      'The functions decode every request by its contract, and report errors in their own shape.',
    );
    acknowledge(
      this.api,
      'APIG3',
      'An optional web firewall is in front of CloudFront. Rates are limited per stage and per token.',
    );
    acknowledge(
      this.api,
      'APIG4',
      'The functions authenticate, so that a refusal has their body and WWW-Authenticate.',
    );
    acknowledge(this.api, 'COG4', "Tokens are the platform's own; there is no user pool.");
  }

  private addApi(props: StreamedApiProps): RestApi {
    const {
      deployment = 'sallyport',
      requestsPerSecondMax = 500,
      requestBurstMax = 1000,
      isKeyed = false,
    } = props;
    return new RestApi(this, 'Rest', {
      // The API's metrics carry its name: it distinguishes two deployments of one region.
      restApiName: `${deployment}-rest`,
      description: `${deployment}: REST`,
      endpointTypes: [EndpointType.REGIONAL],
      binaryMediaTypes: ['*/*'],
      cloudWatchRole: false,
      defaultMethodOptions: { apiKeyRequired: isKeyed },
      deployOptions: {
        stageName,
        tracingEnabled: true,
        throttlingRateLimit: requestsPerSecondMax,
        throttlingBurstLimit: requestBurstMax,
        loggingLevel: MethodLoggingLevel.ERROR,
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(addLogGroup(this, 'AccessLogs', props)),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLog)),
      },
    });
  }

  /** API Gateway would create this group itself, and retain it for ever (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html). */
  private addExecutionLogs({ logRetention, encryptionKey }: LogOptions): void {
    const logGroupName = `API-Gateway-Execution-Logs_${this.api.restApiId}/${stageName}`;
    const group = addLogGroup(this, 'ExecutionLogs', { logRetention, encryptionKey, logGroupName });
    this.api.deploymentStage.node.addDependency(group);
  }

  /** Answered by API Gateway itself: it proves that the API is reachable, and costs no invocation. */
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
}

const streamed = (handler: IFunction): LambdaIntegration =>
  new LambdaIntegration(handler, {
    responseTransferMode: ResponseTransferMode.STREAM,
    timeout: streamedTimeout,
    allowTestInvoke: false,
  });

/** Without the query: it may hold a ticket. */
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

/** Refusals of API Gateway before a function is invoked, in the shape of `shared/errors.ts`. */
const addRefusals = (api: RestApi): void => {
  for (const [name, refusal] of Object.entries(refusals)) {
    const { type, status, headers } = refusal;
    api.addGatewayResponse(name, {
      type,
      statusCode: status,
      responseHeaders: {
        'x-request-id': 'context.requestId',
        'x-content-type-options': "'nosniff'",
        ...headers,
      },
      templates: { 'application/json': refusalBody(refusal) },
    });
  }
};

type Refusal = {
  readonly type: ResponseType;
  readonly status: string;
  readonly code: string;
  readonly message: string;
  /**
   * In the words of the table of errors, which synthesis does not load (edge-stack.test.ts compares them), unless those do not help
   * the client that is refused here.
   */
  readonly advice: string;
  readonly headers?: Record<string, string>;
};

const refusals: Record<string, Refusal> = {
  NoRoute: {
    // API Gateway's name for a path without a method.
    type: ResponseType.MISSING_AUTHENTICATION_TOKEN,
    status: '404',
    code: 'not_found',
    message: 'there is nothing at this path',
    advice: 'Check the address: GET /api/openapi.json lists all routes.',
  },
  Throttled: {
    type: ResponseType.THROTTLED,
    status: '429',
    code: 'rate_limited',
    message: 'too many requests',
    advice: 'Wait as long as Retry-After says, then try again.',
    headers: { 'Retry-After': "'1'" },
  },
  TooLarge: {
    type: ResponseType.REQUEST_TOO_LARGE,
    status: '413',
    code: 'payload_too_large',
    message: 'the request is too large',
    advice: 'Send less at once.',
  },
  PastCloudFront: {
    // Its status would be that of every other fault of a client
    // (https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html).
    type: ResponseType.INVALID_API_KEY,
    status: '403',
    code: 'forbidden',
    message: 'requests come through the public address of the deployment',
    advice: 'Send the request to that address, which the operator of the deployment knows.',
  },
  ClientFault: {
    type: ResponseType.DEFAULT_4XX,
    status: '400',
    code: 'invalid_request',
    message: 'the request is not valid',
    advice: 'Compare the request with GET /api/openapi.json, and send it again.',
  },
  OurFault: {
    type: ResponseType.DEFAULT_5XX,
    status: '500',
    code: 'internal_error',
    message: 'the request failed',
    advice: 'Try again in a moment.',
  },
};

const refusalBody = ({ code, message, advice }: Refusal): string =>
  JSON.stringify({
    error: {
      ...{ code, message, suggestions: [advice], recoveryActions: [] },
      requestId: '$context.requestId',
    },
  });
