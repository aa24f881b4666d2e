/**
 * The REST API: everything under `/api` to one function and `/mcp` to another, whose answers are streamed as
 * they are made.
 *
 * It authenticates nobody: the functions do, because a refusal has our words and headers. What API Gateway
 * itself refuses is said in the same shape as the function would.
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
import { acknowledge } from './acknowledge.ts';
import { keptLog, type LogKeeping } from './log-group.ts';

export type StreamedApiProps = LogKeeping & {
  /** Absent: `sallyport`. */
  readonly deployment?: string;
  /** Requests of everybody together; each token has its own rate besides. Absent: 500, in bursts of 1000. */
  readonly requestsPerSecondMax?: number;
  readonly requestBurstMax?: number;
  readonly api: IFunction;
  readonly mcp: IFunction;
};

const stageName = 'live';
/** Only with streaming; a whole answer ends at 29 s (https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html). */
const streamedTimeout = Duration.minutes(15);

export class StreamedApi extends Construct {
  readonly api: RestApi;
  /** What CloudFront asks: the stage is no part of the paths the function sees. */
  readonly origin: { readonly domainName: string; readonly path: string };

  constructor(scope: Construct, id: string, props: StreamedApiProps) {
    super(scope, id);
    const { api, mcp } = props;
    this.api = this.addApi(props);
    this.addExecutionLogs(props);
    this.api.root.addResource('api').addResource('{proxy+}').addMethod('ANY', streamed(api));
    // Which methods MCP has is for its function to say, in its own words.
    this.api.root.addResource('mcp').addMethod('ANY', streamed(mcp));
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
      'The functions decode every request by its contract, and say what is wrong in our words.',
    );
    acknowledge(
      this.api,
      'APIG3',
      'The web firewall of those who want one stands before CloudFront. Rates are limited per stage and per token.',
    );
    acknowledge(
      this.api,
      'APIG4',
      'The functions authenticate, so that a refusal has our body and WWW-Authenticate.',
    );
    acknowledge(this.api, 'COG4', "Tokens are the platform's own; there is no user pool.");
  }

  private addApi(props: StreamedApiProps): RestApi {
    const { deployment = 'sallyport', requestsPerSecondMax = 500, requestBurstMax = 1000 } = props;
    return new RestApi(this, 'Rest', {
      // The API's metrics go by its name: two deployments of one region are told apart.
      restApiName: `${deployment}-rest`,
      description: `${deployment}: REST`,
      endpointTypes: [EndpointType.REGIONAL],
      binaryMediaTypes: ['*/*'],
      cloudWatchRole: false,
      deployOptions: {
        stageName,
        tracingEnabled: true,
        throttlingRateLimit: requestsPerSecondMax,
        throttlingBurstLimit: requestBurstMax,
        loggingLevel: MethodLoggingLevel.ERROR,
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(keptLog(this, 'AccessLogs', props)),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLog)),
      },
    });
  }

  /** API Gateway would make this group itself, and keep it for ever (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html). */
  private addExecutionLogs({ logRetention, encryptionKey }: LogKeeping): void {
    const logGroupName = `API-Gateway-Execution-Logs_${this.api.restApiId}/${stageName}`;
    const group = keptLog(this, 'ExecutionLogs', { logRetention, encryptionKey, logGroupName });
    this.api.deploymentStage.node.addDependency(group);
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
}

const streamed = (handler: IFunction): LambdaIntegration =>
  new LambdaIntegration(handler, {
    responseTransferMode: ResponseTransferMode.STREAM,
    timeout: streamedTimeout,
    allowTestInvoke: false,
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

/** What API Gateway refuses before a function is asked, in the shape and the words of `shared/errors.ts`. */
export const addRefusals = (api: RestApi): void => {
  for (const [name, { type, status, code, message, headers }] of Object.entries(refusals))
    api.addGatewayResponse(name, {
      type,
      statusCode: status,
      ...(headers === undefined ? {} : { responseHeaders: headers }),
      templates: { 'application/json': refusalBody(code, message) },
    });
};

type Refusal = {
  readonly type: ResponseType;
  readonly status: string;
  readonly code: string;
  readonly message: string;
  readonly headers?: Record<string, string>;
};

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
